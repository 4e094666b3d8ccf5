'use strict';
const graph = JSON.parse(document.getElementById('data').textContent);
const plan = JSON.parse(document.getElementById('plan').textContent);
const placed = (box) => ({ ...box.origin, ...box.size });
Object.assign(graph, plan.size);
// Paths are shown relative to the folder that all files are in.
const ofFolder = new RegExp(`(^|[\\s("'])${plan.folder.replace(/[^\w/]/g, '\\$&')}`, 'g');
const inFolder = (text) => text.replace(ofFolder, '$1');
graph.files.forEach((file, index) => {
  Object.assign(file, placed(plan.files[index]), { path: file.name.slice(plan.folder.length) });
});
graph.nodes.forEach((node, index) => Object.assign(node, placed(plan.nodes[index])));
graph.edges.forEach((edge, index) => {
  edge.bends = plan.bends[index].flatMap((point) => [point.x, point.y]);
});
const byId = (id) => document.getElementById(id);
const canvas = byId('canvas'), view = byId('view'), search = byId('search');
const SVG = 'http://www.w3.org/2000/svg';

// Names come from files that may be hostile: they become text and attributes, never markup.
function add(parent, tag, attributes = {}, text) {
  const isSVG = parent.namespaceURI === SVG;
  const element = isSVG ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
function short(text, limit) {
  const tail = Math.min(8, (limit - 1) >> 1);
  return text.length <= limit ? text : text.slice(0, limit - 1 - tail) + '…' + text.slice(text.length - tail);
}
const counted = (number, word) => `${number} ${word}${number === 1 ? '' : 's'}`;

// ---- Drawing ----

for (const [id, path, fill] of [
  ['requires', 'M0 0L10 5L0 10z', 'context-stroke'], ['after', 'M0 0L10 5L0 10', 'none'],
  ['provides', 'M0 0L10 5L0 10z', 'var(--file)'], ['needs', 'M0 0L10 5L0 10z', 'context-stroke'],
]) {
  const marker = add(canvas.querySelector('defs'), 'marker', {
    id, viewBox: '-1 -1 12 12', refX: 10, refY: 5, markerWidth: 9, markerHeight: 9,
    markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse',
  });
  add(marker, 'path', { d: path, fill, stroke: 'context-stroke', 'stroke-width': 1.4 });
}

// One shape for each kind, so that kinds differ without colour.
function shape(kind, w, h) {
  switch (kind) {
    case 'module': return ['rect', { width: w, height: h, rx: 8 }];
    case 'service': return ['rect', { width: w, height: h, rx: h / 2 }];
    case 'implementation':
      return ['path', { d: `M0 0H${w}V${h}H0zM6 0V${h}M${w - 6} 0V${h}` }];
    case 'target':
      return ['path', { d: `M10 0H${w - 10}L${w} ${h / 2}L${w - 10} ${h}H10L0 ${h / 2}z` }];
    case 'route': return ['path', { d: `M0 0H${w - 12}L${w} ${h / 2}L${w - 12} ${h}H0z` }];
    case 'other': return ['path', { d: `M0 0H${w - 10}L${w} 10V${h}H0z` }];
    default: return ['rect', { width: w, height: h }];
  }
}

for (const file of graph.files) {
  file.element = add(byId('files'), 'g', {
    class: 'file', transform: `translate(${file.x} ${file.y})`, 'data-name': file.name,
  });
  add(file.element, 'title', {}, file.name);
  add(file.element, 'rect', { width: file.width, height: file.height, rx: 10 });
  const title = add(byId('titles'), 'text', { 'data-name': file.name });
  file.title = { element: title, name: add(title, 'tspan'), machine: add(title, 'tspan', { class: 'machine' }) };
}

// All titles have one size, whatever the size of their files: the screen's, if the strip above the boxes has room for
// it. On a map the boxes are hidden, and a title is in the middle of its file.
function drawTitles(scale, isMap) {
  const size = isMap ? 10 / scale : Math.min(13 / Math.min(scale, 1), plan.title * 0.75);
  byId('titles').style.setProperty('--size', `${size}px`);
  for (const file of graph.files) {
    const room = Math.floor((isMap ? file.width + 40 : file.width - 28) / (size * 0.63));
    const path = isMap ? file.path.replace(/\.so$/, '') : file.path;
    const text = path.length <= room ? path : short(path.split('/').pop(), room);
    const hasRoom = !isMap && text.length + file.machine.length + 2 <= room;
    const { element, name, machine } = file.title;
    name.textContent = room < 4 ? '' : text;
    machine.textContent = hasRoom ? file.machine : '';
    if (hasRoom) machine.setAttribute('dx', size * 0.6);
    element.setAttribute('x', file.x + (isMap ? file.width / 2 : 14));
    element.setAttribute('y', file.y + (isMap ? file.height : plan.title) / 2);
  }
}

for (const finding of graph.findings) {
  for (const index of finding.nodes) {
    const file = graph.files[graph.nodes[index].file];
    if (file && finding.level !== 'remark') file.element.classList.add('wrong');
  }
}

function drawNode(parent, node) {
  const isWrong = node.isInCycle || node.findings.length > 0;
  const element = add(parent, 'g', {
    class: `node ${node.kind}${isWrong ? ' wrong' : ''}${node.file === null ? ' free' : ''}`,
    'data-name': node.name,
    transform: `translate(${node.x} ${node.y})`, tabindex: -1, role: 'option', 'aria-selected': false,
    'aria-label': [
      node.name, node.caption, ...(node.file === null ? [] : [`in ${graph.files[node.file].path}`]),
      ...(node.findings.length === 0 ? [] : [counted(node.findings.length, 'finding')]),
    ].join(', '),
  });
  add(element, 'title', {}, `${node.name}\n${node.place ?? node.caption}`);
  add(element, 'rect', { class: 'ring', x: -6, y: -6, width: node.width + 12, height: node.height + 12, rx: 12 });
  const [tag, attributes] = shape(node.kind, node.width, node.height);
  add(element, tag, { class: 'shape', ...attributes });
  const place = { x: node.width / 2, 'text-anchor': 'middle' };
  add(element, 'text', { class: 'name', ...place, y: 17 }, short(node.name, 34));
  const caption = (isWrong ? '⚠ ' : '') + short(node.caption, 40);
  add(element, 'text', { class: 'caption', ...place, y: 31 }, caption);
  return element;
}

// If arrows go both ways between two boxes, each arrow has a line of its own.
function route(from, to, bends) {
  const isBackward = to.x + to.width <= from.x;
  const isBeside = !isBackward && to.x < from.x + from.width;
  const height = (box, share) => box.y + box.height * share;
  if (from === to || isBeside && bends.length === 0) {
    const [right, toRight] = [from.x + from.width, to.x + to.width];
    const out = Math.max(right, toRight) + 36;
    const [start, end] = from === to ? [0.25, 0.75] : [0.7, 0.3];
    const [y, toY] = [height(from, start), height(to, end)];
    return `M${right} ${y}C${out} ${y} ${out} ${toY} ${toRight} ${toY}`;
  }
  const share = isBackward ? 0.78 : 0.4;
  const points = [[isBackward ? from.x : from.x + from.width, height(from, share)]];
  for (let i = 0; i < bends.length; i += 2) points.push([bends[i], bends[i + 1]]);
  points.push([isBackward || isBeside ? to.x + to.width : to.x, height(to, share)]);
  let path = `M${points[0]}`;
  for (let i = 1; i < points.length; i += 1) {
    const [[x, y], [nextX, nextY]] = [points[i - 1], points[i]];
    const half = (nextX - x) / 2;
    path += y === nextY ? `L${points[i]}`
      : `C${x + half} ${y} ${nextX - half} ${nextY} ${nextX} ${nextY}`;
  }
  return path;
}

for (const edge of graph.edges) {
  const [from, to] = [graph.nodes[edge.from], graph.nodes[edge.to]];
  edge.element = add(byId('edges'), 'path', {
    class: `edge ${edge.kind}${edge.isInCycle ? ' wrong' : ''}`,
    d: route(from, to, edge.bends), 'marker-end': `url(#${edge.kind})`,
  });
}

// The order of the keyboard and of screen readers: nodes with findings first, then file by file in reading order.
const levels = ['error', 'warning', 'remark'];
const rank = (node) =>
  Math.min(levels.length, ...node.findings.map((finding) => levels.indexOf(graph.findings[finding].level)));
const inOrder = graph.nodes.map((node, index) => index).sort((one, other) => {
  const [a, b] = [graph.nodes[one], graph.nodes[other]];
  return rank(a) - rank(b) || (a.file ?? Infinity) - (b.file ?? Infinity) || a.y - b.y || a.x - b.x || one - other;
});
for (const index of inOrder) {
  const node = graph.nodes[index];
  node.element = drawNode(byId('nodes'), node);
  node.element.addEventListener('click', () => { if (!hasMoved) select(index); });
  node.element.addEventListener('keydown', (event) => follow(event, index));
  node.element.addEventListener('focus', () => {
    stopAt(index);
    if (node.element.matches(':focus-visible')) show(node);
  });
  node.element.addEventListener('pointerenter', () => light(index));
  node.element.addEventListener('pointerleave', () => light(null));
}
const folder = plan.folder.replace(/\/$/, '');
byId('summary').textContent = graph.summary + (/^\.?$/.test(folder) ? '' : ` · in ${folder}`);
byId('summary').title = byId('summary').textContent;

for (const [kind, words] of Object.entries({
  requires: 'requires', after: 'after, if there', provides: 'implements', needs: 'needs',
})) {
  if (!graph.edges.some((edge) => edge.kind === kind)) continue;
  const item = add(byId('legend'), 'li');
  const line = item.appendChild(document.createElementNS(SVG, 'svg'));
  add(line, 'path', { class: `edge ${kind}`, d: 'M0 7H43', 'marker-end': `url(#${kind})` });
  add(item, 'span', {}, words);
}

// ---- Moving ----

const place = { x: 0, y: 0, scale: 1 };
let drawn = 0;
let isFitted = false;
function move(x, y, scale) {
  Object.assign(place, { x, y, scale: Math.min(4, Math.max(0.02, scale)) });
  isFitted = false;
  view.setAttribute('transform', `translate(${place.x} ${place.y}) scale(${place.scale})`);
  const isMap = place.scale < 0.3;
  view.classList.toggle('far', place.scale < 0.45);
  view.classList.toggle('map', isMap);
  if (drawn !== place.scale) drawTitles(place.scale, isMap);
  drawn = place.scale;
}
function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const scale = Math.min(4, Math.max(0.02, place.scale * factor));
  const ratio = scale / place.scale;
  move(x - (x - place.x) * ratio, y - (y - place.y) * ratio, scale);
}
function fit() {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const margin = width < 500 ? 16 : 32;
  // The legend and the buttons are below the picture.
  const below = margin + Math.max(byId('legend').offsetHeight, byId('zoom').offsetHeight);
  const scale = Math.min(
    1.25, (width - 2 * margin) / Math.max(graph.width, 1),
    (height - margin - below) / Math.max(graph.height, 1));
  move(
    (width - graph.width * scale) / 2, Math.max(margin, (height - below - graph.height * scale) / 2), scale);
  isFitted = true;
}

// Brings a node into the middle, unless it can be seen and read already.
function show(node) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const isWithin = (start, length, all) => start >= 24 && start + length <= all - 24;
  if (place.scale >= 0.6
    && isWithin(place.x + node.x * place.scale, node.width * place.scale, width)
    && isWithin(place.y + node.y * place.scale, node.height * place.scale, height)) return;
  const scale = place.scale >= 0.6 ? place.scale : 0.9;
  move(
    width / 2 - (node.x + node.width / 2) * scale, height / 2 - (node.y + node.height / 2) * scale, scale);
}
// Keeps the chosen node in sight when the room changes, or the whole picture if it was fitted and stays readable.
function keepInSight() {
  if (selected !== null && (!isFitted || canvas.clientWidth < 500)) show(graph.nodes[selected]);
  else if (isFitted) fit();
}
canvas.addEventListener('wheel', (event) => {
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  const step = event.deltaMode === 1 ? event.deltaY * 24 : event.deltaY;
  zoom(Math.exp(-step / 500), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
const pointers = new Map();
// Whether the held pointer has moved the picture. Then it chooses nothing.
let hasMoved = false, start;
canvas.addEventListener('pointerdown', (event) => {
  if (pointers.size === 0) [hasMoved, start] = [false, event];
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});
addEventListener('pointermove', (event) => {
  const last = pointers.get(event.pointerId);
  if (!last) return;
  hasMoved ||= Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > 4;
  const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
  if (pointers.size === 1) {
    move(place.x + dx, place.y + dy, place.scale);
  } else {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    const box = canvas.getBoundingClientRect();
    if (before > 0) zoom(after / before, other.x - box.left, other.y - box.top);
  }
  canvas.classList.add('moving');
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});
for (const end of ['pointerup', 'pointercancel']) {
  addEventListener(end, (event) => {
    pointers.delete(event.pointerId);
    canvas.classList.remove('moving');
  });
}
byId('smaller').addEventListener('click', () => zoom(1 / 1.3));
byId('larger').addEventListener('click', () => zoom(1.3));
byId('fit').addEventListener('click', fit);
addEventListener('resize', keepInSight);

// ---- Choosing ----

const mostFindings = 1000;
const details = byId('details'), contents = byId('contents');
let selected = null, lit = null, stop = inOrder[0], order = inOrder;

// The graph is one stop of the Tab key: the node that the arrow keys have reached.
function stopAt(index) {
  if (stop !== undefined) graph.nodes[stop].element.setAttribute('tabindex', -1);
  stop = index;
  if (stop !== undefined) graph.nodes[stop].element.setAttribute('tabindex', 0);
}
function goTo(index) {
  show(graph.nodes[index]);
  graph.nodes[index].element.focus({ preventScroll: true });
}
function follow(event, index) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const at = order.indexOf(index), last = order.length - 1;
  const next = {
    ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last,
  }[event.key];
  if (next !== undefined) goTo(order[Math.max(0, Math.min(last, next))]);
  else if (event.key === 'Enter' || event.key === ' ') select(index);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function light(index) {
  lit = index;
  mark();
}
// Marks what is found, and the chosen node's neighbours. Both stay bright while others are dimmed.
function mark() {
  const isSearching = search.value.trim() !== '';
  const isEnd = (edge, index) => index !== null && (edge.from === index || edge.to === index);
  const bright = new Set(isSearching ? found : []);
  const neighbours = new Set();
  if (selected !== null) bright.add(selected);
  for (const edge of graph.edges) {
    if (isEnd(edge, selected)) for (const end of [edge.from, edge.to]) neighbours.add(end);
  }
  neighbours.delete(selected);
  for (const index of neighbours) bright.add(index);
  for (const edge of graph.edges) {
    const isNear = isEnd(edge, selected) || isEnd(edge, lit);
    const isFound = graph.nodes[edge.from].isFound && graph.nodes[edge.to].isFound;
    edge.element.classList.toggle('near', isNear);
    edge.element.classList.toggle('dimmed', isSearching && !isFound && !isNear);
  }
  const files = new Set();
  graph.nodes.forEach((node, index) => {
    const { classList } = node.element;
    if (bright.has(index)) files.add(node.file);
    classList.toggle('found', node.isFound === true);
    classList.toggle('neighbour', neighbours.has(index));
    classList.toggle('dimmed', isSearching && !bright.has(index));
  });
  graph.files.forEach((file, index) => {
    for (const { classList } of [file.element, file.title.element]) {
      classList.toggle('dimmed', isSearching && !files.has(index));
    }
  });
}

// Opens the panel with a node, or with all findings.
function select(index) {
  if (selected !== null) {
    graph.nodes[selected].element.classList.remove('selected');
    graph.nodes[selected].element.setAttribute('aria-selected', false);
  }
  selected = index;
  contents.replaceChildren();
  contents.scrollTop = 0;
  byId('bar').classList.toggle('of-node', index !== null);
  if (index === null) tellAll(); else tellNode(index);
  mark();
  open(true);
}
function open(isOpen) {
  const before = canvas.clientWidth + canvas.clientHeight;
  details.hidden = !isOpen;
  byId('findings').setAttribute('aria-expanded', isOpen && selected === null);
  if (canvas.clientWidth + canvas.clientHeight !== before) keepInSight();
}
// Focus that was in the panel goes back to what had opened it.
function close() {
  const node = selected;
  const hadFocus = details.contains(document.activeElement);
  if (node !== null) select(null);
  open(false);
  if (!hadFocus) return;
  if (node !== null) goTo(node); else byId('findings').focus();
}
byId('close').addEventListener('click', close);
byId('findings').addEventListener('click', () => {
  if (details.hidden || selected !== null) select(null); else close();
});
function tellNode(index) {
  const node = graph.nodes[index];
  node.element.classList.add('selected');
  node.element.setAttribute('aria-selected', true);
  stopAt(index);
  if (graph.findings.length > 0) {
    const back = add(contents, 'button', { id: 'all' }, '‹ All findings');
    back.addEventListener('click', () => {
      select(null);
      byId('title').focus();
    });
  }
  byId('title').textContent = node.name;
  byId('status').textContent = `Details of ${node.name}`;
  add(contents, 'p', { class: 'caption' }, node.caption);
  for (const finding of node.findings) tell(graph.findings[finding]);
  const words = {
    requires: ['Requires', 'Required by'], after: ['After, if there', 'Before'],
    provides: ['Implements', 'Implemented by'], needs: ['Needs', 'Needed by'],
  };
  for (const [kind, [out, into]] of Object.entries(words)) {
    list(contents, out, graph.edges.filter((edge) => edge.kind === kind && edge.from === index)
      .map((edge) => edge.to));
    list(contents, into, graph.edges.filter((edge) => edge.kind === kind && edge.to === index)
      .map((edge) => edge.from));
  }
  if (node.attributes) {
    add(contents, 'h3', {}, 'Attributes');
    for (const word of node.attributes.split(' ')) add(contents, 'p', { class: 'mono' }, word);
  }
  if (node.place) {
    add(contents, 'h3', {}, 'Place');
    add(contents, 'p', { class: 'mono', title: node.place }, inFolder(node.place));
  }
}
function list(parent, title, indices) {
  if (indices.length === 0) return;
  add(parent, 'h3', {}, title);
  const items = add(parent, 'ul');
  for (const index of indices) {
    const button = add(add(items, 'li'), 'button', {}, graph.nodes[index].name);
    button.addEventListener('click', () => choose(index));
  }
}
// Chooses a node that the panel names, and goes there.
function choose(index) {
  select(index);
  goTo(index);
}

// Adds a finding to the panel. The panel lists all findings until a node is chosen.
function tell(finding, isLinked) {
  const item = add(contents, 'div', { class: `finding ${finding.level}` });
  const node = finding.nodes[0];
  const place = { class: 'place', title: finding.place };
  if (isLinked && node !== undefined) {
    const button = add(item, 'button', place, inFolder(finding.place));
    button.addEventListener('click', () => choose(node));
  } else {
    add(item, 'p', place, inFolder(finding.place));
  }
  const message = add(item, 'p', { class: 'message' });
  add(message, 'span', { class: 'level' }, `${finding.level}: `);
  message.append(inFolder(finding.message));
  add(item, 'p', { class: 'remedy' }, finding.remedy);
}
function tellAll() {
  const count = graph.findings.length;
  byId('title').textContent = byId('status').textContent = counted(count, 'finding');
  for (const finding of graph.findings.slice(0, mostFindings)) tell(finding, true);
  if (count > mostFindings) {
    add(contents, 'p', {}, `and ${count - mostFindings} more, which section-dump verify lists`);
  }
}

// ---- Searching ----

let found = [], next = 0;
function find(text) {
  const wanted = text.trim().toLowerCase();
  const has = (value) => value.toLowerCase().includes(wanted);
  for (const node of graph.nodes) {
    const file = node.file === null ? null : graph.files[node.file];
    node.isFound = wanted !== '' && (has(node.name) || has(node.caption)
      || (file !== null && has(file.path)));
  }
  found = inOrder.filter((index) => graph.nodes[index].isFound);
  order = [...found, ...inOrder.filter((index) => !graph.nodes[index].isFound)];
  next = 0;
  if (selected === null) stopAt(order[0]);
  mark();
  byId('matches').textContent =
    wanted === '' ? '' : found.length === 0 ? 'nothing found' : `${found.length} found`;
}
function goOn(step) {
  if (found.length === 0) return;
  next = (next + step + found.length) % found.length;
  const node = graph.nodes[found[next]];
  byId('matches').textContent = `${next + 1} of ${found.length}`;
  select(found[next]);
  show(node);
}
search.addEventListener('input', () => {
  find(search.value);
  const hash = search.value === '' ? '' : `#search=${encodeURIComponent(search.value)}`;
  history.replaceState(null, '', location.pathname + location.search + hash);
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' && stop !== undefined) {
    event.preventDefault();
    return goTo(stop);
  }
  if (event.key !== 'Enter') return;
  goOn(selected === found[next] ? (event.shiftKey ? -1 : 1) : 0);
});
function readAddress() {
  const match = /^#search=(.*)$/.exec(location.hash);
  if (!match) return;
  try { search.value = decodeURIComponent(match[1]); } catch { search.value = match[1]; }
  find(search.value);
  if (found.length > 0 && found.length < graph.nodes.length) show(graph.nodes[found[0]]);
}
addEventListener('hashchange', readAddress);

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // Escape ends one thing: what is typed, else the panel, else the search.
  if (event.key === 'Escape') {
    if (search.value !== '' && (event.target === search || details.hidden)) {
      event.preventDefault();
      search.value = '';
      search.dispatchEvent(new Event('input'));
    } else if (!details.hidden) {
      close();
    }
    return;
  }
  const isScrolling = details.contains(event.target) && event.key.startsWith('Arrow');
  if (event.target === search || isScrolling) return;
  const step = 80;
  const actions = {
    '/': () => search.focus(), '+': () => zoom(1.3), '=': () => zoom(1.3),
    '-': () => zoom(1 / 1.3), 0: fit,
    ArrowLeft: () => move(place.x + step, place.y, place.scale),
    ArrowRight: () => move(place.x - step, place.y, place.scale),
    ArrowUp: () => move(place.x, place.y + step, place.scale),
    ArrowDown: () => move(place.x, place.y - step, place.scale),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
const worst = levels.find((level) => graph.findings.some((finding) => finding.level === level));
if (worst) {
  byId('findings').textContent = counted(graph.findings.length, 'finding');
  byId('findings').classList.add(worst);
  byId('findings').hidden = false;
}
stopAt(stop);
fit();
// Shows the findings at once if there is room for them next to the picture.
select(null);
if (!worst || matchMedia('(max-width: 640px)').matches) open(false);
byId('status').textContent = '';
readAddress();
