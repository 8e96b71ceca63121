package io.github.virtualthread.sample.lab.terminal;

import static io.github.virtualthread.sample.lab.terminal.Svg.WIDTH;
import static io.github.virtualthread.sample.lab.terminal.Svg.colour;
import static io.github.virtualthread.sample.lab.terminal.Svg.dash;
import static io.github.virtualthread.sample.lab.terminal.Svg.escape;
import static io.github.virtualthread.sample.lab.terminal.Svg.format;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Kind;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Mark;
import io.github.virtualthread.sample.lab.Answer.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Lines over one pair of axes that begin at zero, with the areas between them, the marks above and the spreads below. */
final class LinesSvg {

    /** What areas are filled with, once for all of a page: a hatch besides the colour. */
    static final String PATTERNS = patterns();

    private static final int LEFT = 60;
    private static final int TOP = 10;
    private static final int HEIGHT = 240;
    private static final int BOTTOM = TOP + HEIGHT;
    private static final int ROW = 18;
    private static final String LINE = "h40";
    private static final String BOX = "m0-6h40v10h-40z";
    private static final int GAP = 4; // a colour, and a hatch

    private final Chart chart;
    private final double right;
    private final double top;
    private final StringBuilder svg = new StringBuilder();
    private int y = BOTTOM + 36;

    private LinesSvg(Chart chart, List<Chart> alike) {
        this.chart = chart;
        this.right = alike.stream()
                .flatMap(each -> each.lines().stream())
                .flatMap(line -> line.points().stream())
                .mapToDouble(point -> point[0])
                .max()
                .orElse(1);
        this.top = alike.stream()
                .flatMap(each -> heights(each).stream())
                .flatMap(List::stream)
                .mapToDouble(point -> point[1])
                .max()
                .orElse(1);
    }

    /** Those of {@code others} that have the same axes get the same scales. */
    static String of(Chart chart, List<Chart> others) {
        List<Chart> alike = others.stream()
                .filter(other -> other.x().equals(chart.x()) && other.y().equals(chart.y()))
                .toList();
        return new LinesSvg(chart, alike).draw();
    }

    private String draw() {
        axes();
        List<List<double[]>> heights = heights(chart);
        if (chart.kind() == Kind.GAP) {
            gap(heights.get(0), heights.get(1));
        }
        for (int index = 0; index < heights.size(); index++) {
            line(index, heights.get(index), index == 0 ? List.of() : heights.get(index - 1));
        }
        List<String> heard = new ArrayList<>(List.of(chart.title()));
        List<Mark> marks =
                chart.lines().stream().flatMap(line -> line.marks().stream()).toList();
        for (int at = 0; at < marks.size(); at++) {
            heard.add(mark(marks.get(at), TOP + 10 + at % 3 * 14)); // not over the one before
        }
        chart.spreads().forEach(spread -> heard.add(spread(spread)));
        return Svg.frame(y - ROW / 2, chart.title(), String.join(". ", heard), svg.toString());
    }

    private void axes() {
        svg.append(format("<path d='M%d %dV%dH%d' fill='none' stroke='currentColor'/>", LEFT, TOP, BOTTOM, WIDTH - 10));
        svg.append(format("<text x='%d' y='20' text-anchor='end'>%s</text>", LEFT - 6, Answer.number(top)));
        svg.append(format(
                "<text x='%d' y='%d' text-anchor='end'>%s %s</text>",
                WIDTH - 10, BOTTOM + 16, Answer.number(right), escape(chart.x())));
    }

    private void line(int index, List<double[]> points, List<double[]> below) {
        String name = chart.lines().get(index).name();
        if (chart.kind() == Kind.STACKED && isNothing(chart.lines().get(index))) {
            // it has no area, and its line would be that of the one below
            legend(LINE, "", name + " (none)");
            return;
        }
        boolean filled = chart.kind() == Kind.STACKED;
        if (filled) {
            area(
                    points,
                    below.isEmpty() ? List.of(new double[] {0, 0}, new double[] {points.getLast()[0], 0}) : below,
                    index);
        }
        String look = format("stroke='%s' stroke-width='2' stroke-dasharray='%s'", colour(index), dash(index));
        svg.append(format("<polyline points='%s' fill='none' %s/>", path(points), look));
        legend(filled ? BOX : LINE, look + (filled ? fill(index) : ""), name);
    }

    /** Only where the first is higher: what is done before it is promised is no gap. */
    private void gap(List<double[]> promised, List<double[]> kept) {
        List<double[]> higher = IntStream.range(0, kept.size())
                .mapToObj(at -> new double[] {kept.get(at)[0], Math.max(promised.get(at)[1], kept.get(at)[1])})
                .toList();
        area(higher, kept, GAP);
        boolean open = IntStream.range(0, kept.size()).anyMatch(at -> promised.get(at)[1] > kept.get(at)[1]);
        String text = chart.lines().get(0).name() + ", but not "
                + chart.lines().get(1).name();
        legend(BOX, fill(GAP), open ? text : text + " (none)");
    }

    private void area(List<double[]> upper, List<double[]> lower, int index) {
        svg.append(format("<polygon points='%s %s'%s/>", path(upper), path(lower.reversed()), fill(index)));
    }

    private static String fill(int index) {
        return " fill='url(#area-%d)'".formatted(index);
    }

    private String mark(Mark mark, int label) {
        String look = "stroke='currentColor' stroke-dasharray='2 3'";
        svg.append(format("<path d='M%.1f %dV%d' %s/>", x(mark.x()), TOP, BOTTOM, look));
        svg.append(format("<text class='mark' x='%.1f' y='%d'>%s</text>", x(mark.x()) + 4, label, escape(mark.text())));
        String text = "At %s %s: %s".formatted(Answer.number(mark.x()), chart.x(), mark.text());
        legend(LINE, look, text);
        return text;
    }

    private String spread(Spread spread) {
        List<String> names = chart.lines().stream().map(Line::name).toList();
        int index = names.indexOf(spread.line());
        svg.append(format(
                "<rect x='%.1f' y='%d' width='%.1f' height='8' stroke='%s'%s/>",
                x(spread.first()), y - 10, x(spread.last()) - x(spread.first()), colour(index), fill(index)));
        svg.append(
                format("<path d='M%.1f %dv14' stroke='currentColor' stroke-width='2'/>", x(spread.median()), y - 13));
        String text = "%s after %s to %s %s, half within %s"
                .formatted(
                        spread.line(),
                        Answer.number(spread.first()),
                        Answer.number(spread.last()),
                        chart.x(),
                        Answer.number(spread.median()));
        svg.append(format("<text x='%d' y='%d'>%s</text>", LEFT, y + ROW - 4, escape(text)));
        y += 2 * ROW;
        return text;
    }

    private void legend(String shape, String look, String text) {
        svg.append(format("<path d='M%d %d%s' %s/>", LEFT, y - 4, shape, look));
        svg.append(format("<text x='%d' y='%d'>%s</text>", LEFT + 48, y, escape(text)));
        y += ROW;
    }

    private double x(double value) {
        return LEFT + value / Math.max(1e-9, right) * (WIDTH - LEFT - 10);
    }

    private String path(List<double[]> points) {
        return points.stream()
                .map(point -> format("%.1f,%.1f", x(point[0]), BOTTOM - point[1] / Math.max(1e-9, top) * HEIGHT))
                .collect(Collectors.joining(" "));
    }

    private static boolean isNothing(Line line) {
        return line.points().stream().allMatch(point -> point[1] == 0);
    }

    /** Where the lines are drawn: each upon the ones before, where they are stacked. */
    private static List<List<double[]>> heights(Chart chart) {
        List<List<double[]>> heights = new ArrayList<>();
        for (Line line : chart.lines()) {
            boolean first = heights.isEmpty() || chart.kind() != Kind.STACKED;
            heights.add(first ? line.points() : upon(heights.getLast(), line.points()));
        }
        return heights;
    }

    private static List<double[]> upon(List<double[]> below, List<double[]> points) {
        return IntStream.range(0, points.size())
                .mapToObj(at -> new double[] {points.get(at)[0], below.get(at)[1] + points.get(at)[1]})
                .toList();
    }

    private static String patterns() {
        List<String> hatches = List.of("", "M-2 2l4-4M0 8l8-8M6 10l4-4", "M0 0l8 8M0 8l8-8");
        String patterns = IntStream.range(0, Svg.COLOURS.size())
                .mapToObj(at -> """
                        <pattern id='area-%d' width='8' height='8' patternUnits='userSpaceOnUse'>\
                        <path d='M0 0h8v8h-8z' fill='%s' opacity='.25'/><path d='%s' stroke='%s'/></pattern>""".formatted(at, colour(at), hatches.get(at % hatches.size()), colour(at)))
                .collect(Collectors.joining());
        return "<svg width='0' height='0' aria-hidden='true' style='position:absolute'><defs>%s</defs></svg>\n"
                .formatted(patterns);
    }
}
