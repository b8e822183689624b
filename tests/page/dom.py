"""Contents of the page. Only this file depends on the layout of its HTML."""

HIT = "main ol > li"

# `link` leads to the document's own address, where that is safe; `stored` to its text as indexed.
HITS_OF = f"""() => [...document.querySelectorAll('{HIT}')].map(hit => ({{
    title: hit.querySelector('h2').textContent,
    link: hit.querySelector('h2 a')?.getAttribute('href') ?? null,
    stored: hit.querySelector('a[href^="document?"]').href,
    summary: hit.querySelector('p').textContent,
    marks: [...hit.querySelectorAll('mark')].map(mark => mark.textContent),
}}))"""

# Every element and attribute in use, and where any link or form leads.
CENSUS_OF = """() => {
    const used = new Set(), leads = new Set();
    for (const e of document.querySelectorAll('*')) {
        const name = e.localName;
        used.add(name);
        for (const a of e.attributes) {
            used.add(name + '@' + a.name);
            if (a.name == 'style') used.add(name + '@style=' + a.value);
        }
        for (const what of ['href', 'src', 'action', 'formAction', 'data', 'poster'])
            if (typeof e[what] == 'string' && e.getAttribute(what.toLowerCase()) !== null)
                // An address that cannot be parsed is a dead link, which harms nobody.
                if (URL.canParse(e[what], document.baseURI))
                    leads.add(new URL(e[what], document.baseURI).protocol);
    }
    return {used: [...used], leads: [...leads]};
}"""

# Contrast of an element's text with what is behind it, as WCAG 2 defines it.
CONTRAST_OF = """element => {
    const parse = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const over = (top, below) => {
        const alpha = top[3] ?? 1;
        return [0, 1, 2].map(i => top[i] * alpha + below[i] * (1 - alpha));
    };
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const canvas = dark && getComputedStyle(document.documentElement).colorScheme.includes('dark') ? 18 : 255;
    const behind = layers.reduceRight((below, layer) => over(layer, below), [canvas, canvas, canvas]);
    const text = over(parse(getComputedStyle(element).color), behind);
    const light = rgb => {
        const [r, g, b] = rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [a, b] = [light(text), light(behind)];
    return {ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), behind: b};
}"""

# How the focused element shows that it has the focus.
FOCUS_OF = """() => {
    const s = getComputedStyle(document.activeElement);
    return {
        name: document.activeElement.localName,
        hit: document.activeElement.closest('HIT') !== null,
        visible: document.activeElement.matches(':focus-visible')
            && (s.outlineStyle != 'none' && parseFloat(s.outlineWidth) > 0 || s.boxShadow != 'none'),
    };
}""".replace("HIT", HIT)


def hits(page):
    """The hits shown, in order."""
    return page.evaluate(HITS_OF)
