package io.github.virtualthread.sample.lab;

/** What is asked of the page from inside the browser. */
final class Scripts {

    /** How many colours a canvas has. A blank one has one. */
    static final String COLOURS = """
            canvas => {
              const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              return new Set(new Uint32Array(data.buffer)).size;
            }""";

    /** Keeps, from then on, what the card says while its progress is to be seen, however short that is. */
    static final String KEEP_STEPS = """
            card => {
              window.kept = [];
              const step = card.querySelector(".step");
              new MutationObserver(() => card.querySelector("progress").checkVisibility() && kept.push(step.textContent))
                  .observe(step, { childList: true });
            }""";

    /** Waits until the panel has been told as often of what goes on: two seconds. */
    static final String FOUR_TIMES_LIVE = """
            () => new Promise(done => {
              let left = 4;
              document.addEventListener("live", () => --left === 0 && done());
            })""";

    static final String FOCUS_IS_VISIBLE = """
            () => {
              const focused = document.activeElement;
              return [focused, focused.parentElement]
                  .some(each => getComputedStyle(each).outlineStyle !== "none" && parseFloat(getComputedStyle(each).outlineWidth) >= 2);
            }""";

    static final String SKIPPED_HEADINGS = """
            () => {
              const headings = [...document.querySelectorAll("h1, h2, h3, h4")];
              const level = heading => Number(heading.tagName[1]);
              return headings.filter((each, at) => level(each) > (at === 0 ? 1 : level(headings[at - 1]) + 1))
                  .map(each => each.textContent);
            }""";

    /** Inputs without a label, and whatever else has nothing to be called by. */
    static final String UNNAMED = """
            () => {
              const inputs = [...document.querySelectorAll("input")].filter(each => each.labels.length === 0);
              const others = [...document.querySelectorAll("button, a, summary, progress, canvas, section, aside, nav")]
                  .filter(each => !each.ariaLabel && !each.getAttribute("aria-labelledby") && !each.textContent.trim());
              return [...inputs, ...others].map(each => each.outerHTML);
            }""";

    static final String TWICE_THE_SAME_ID = """
            () => [...document.querySelectorAll("[id]")].map(each => each.id).filter((id, at, all) => all.indexOf(id) !== at)""";

    /**
     * Texts that stand out from their ground by less than 4.5:1, and lines of charts by less than 3:1, as WCAG 2.2 counts.
     *
     * @see <a href="https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio">contrast ratio</a>
     */
    static final String LOW_CONTRAST = """
            () => {
              const parts = colour => {
                const canvas = new OffscreenCanvas(1, 1).getContext("2d");
                canvas.fillStyle = colour;
                canvas.fillRect(0, 0, 1, 1);
                return [...canvas.getImageData(0, 0, 1, 1).data];
              };
              const luminance = colour => parts(colour).slice(0, 3)
                  .map(part => part / 255)
                  .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
                  .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
              const contrast = (one, other) => {
                const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
                return (light + 0.05) / (dark + 0.05);
              };
              const ground = element => {
                const colour = getComputedStyle(element).backgroundColor;
                return parts(colour)[3] === 255 ? colour : ground(element.parentElement);
              };
              const texts = [...document.querySelectorAll("body *")]
                  .filter(each => each.checkVisibility() && !each.closest("svg"))
                  .filter(each => each.matches("input[type=number]") || [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
                  .map(each => [each.textContent.trim().slice(0, 40), contrast(getComputedStyle(each).color, ground(each)), 4.5]);
              const root = getComputedStyle(document.documentElement);
              const lines = Array.from({ length: 8 }, (_, at) => `--series-${at + 1}`).concat("--axis", "--accent", "--full")
                  .map(name => [name, contrast(root.getPropertyValue(name), root.getPropertyValue("--surface")), 3]);
              return [...texts, ...lines].filter(([, found, least]) => !(found >= least)).map(each => each.join(" "));
            }""";

    private Scripts() {}
}
