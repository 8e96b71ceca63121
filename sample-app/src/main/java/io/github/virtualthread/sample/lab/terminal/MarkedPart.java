package io.github.virtualthread.sample.lab.terminal;

/** The part of a page that is made from results. It stands between two comments, and the rest of the page is written by hand. */
final class MarkedPart {

    private MarkedPart() {}

    /** The page with that text in place of what is between the marks of that name. */
    static String in(String page, String name, String text) {
        String first = "<!-- %s -->".formatted(name);
        String last = "<!-- end of %s -->".formatted(name);
        int begin = page.indexOf(first);
        int end = page.indexOf(last);
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException(
                    "The page must have a line %s and after it a line %s".formatted(first, last));
        }
        return page.substring(0, begin + first.length()) + "\n\n" + text + "\n" + page.substring(end);
    }
}
