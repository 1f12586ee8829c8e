// What is wrong with the page that is open, a sentence each.
(() => {
  const wrong = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (element) => element.outerHTML.slice(0, 100).replace(/\s+/g, ' ');

  // The width that is laid out for; a narrow screen would rather show smaller what is too wide.
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    const wide = all('body *').filter((e) => e.getBoundingClientRect().right > width + 1 && !e.closest('.scroll, .skip'));
    wrong.push(`wider than the window: ${wide.slice(0, 3).map(shown).join(' | ')}`);
  }
  for (const [selector, count] of [['header', 1], ['main', 1], ['footer', 1], ['h1', 1], ['html[lang]', 1], ['title', 1]]) {
    if (all(selector).length !== count) wrong.push(`${all(selector).length} of ${selector}`);
  }
  const ids = all('[id]').map((e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push('an id is there twice');
  for (const link of all('a[href^="#"]')) {
    if (!ids.includes(link.getAttribute('href').slice(1))) wrong.push(`a link leads nowhere: ${shown(link)}`);
  }
  let level = 0;
  for (const heading of all('h1, h2, h3, h4, h5')) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) wrong.push(`a heading of level ${own} after ${level}: ${shown(heading)}`);
    if (!heading.textContent.trim()) wrong.push('an empty heading');
    level = own;
  }
  for (const table of all('table')) {
    if (!table.caption || !table.caption.textContent.trim()) wrong.push(`a table without caption: ${shown(table)}`);
    for (const cell of table.querySelectorAll('th')) if (!cell.scope) wrong.push(`a heading of a table without scope: ${shown(cell)}`);
    const widths = new Set([...table.rows].map((row) => row.cells.length));
    if (widths.size > 1) wrong.push(`rows of ${[...widths]} cells`);
  }
  for (const element of all('[role="img"], [role="region"], nav, ul.bar, ol.track')) {
    const by = element.getAttribute('aria-labelledby');
    const name = by ? (document.getElementById(by) || {}).textContent : element.getAttribute('aria-label');
    if (!name || !name.trim()) wrong.push(`without a name: ${shown(element)}`);
  }
  for (const element of all('*')) {
    const style = getComputedStyle(element);
    const scrolls = /auto|scroll/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
    if (scrolls && element.tabIndex < 0) wrong.push(`scrolls, but not by keys: ${shown(element)}`);
    if (element.tabIndex > 0) wrong.push(`its own order of focus: ${shown(element)}`);
  }

  // Contrast as WCAG 2.2, success criterion 1.4.3, reckons it.
  const channel = (c) => { const s = c / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const colour = (text) => { const n = text.match(/[\d.]+/g).map(Number); return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const own = colour(getComputedStyle(at).backgroundColor);
      if (own[3] === 1) return own;
    }
    return [255, 255, 255, 1];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const told = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest('.unseen, .thin, style')) continue;
    const style = getComputedStyle(element);
    const [front, back] = [light(colour(style.color)), light(ground(element))];
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const key = `${style.color} on ${ground(element)}`;
    if (ratio < least && !told.has(key)) {
      told.add(key);
      wrong.push(`contrast ${ratio.toFixed(2)}, ${key}: ${shown(element)}`);
    }
  }
  return { wrong, isDark: light(ground(document.body)) < 0.2 };
})()
