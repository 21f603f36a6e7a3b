// page.js updates the content of <main> while the user types and when notes
// change, highlights the lines in the URL, and adds keyboard shortcuts.

const main = document.querySelector('main');
const field = document.querySelector('input[type=search]');
const address = () => location.pathname + location.search;
let shown = address(); // of the content of <main>
let request; // the request in progress; a later one aborts it
let late; // the timer that reports that notesd does not answer

const groups = new Set(['DIV', 'ARTICLE', 'SECTION', 'ASIDE', 'BLOCKQUOTE', 'UL', 'OL', 'DL', 'TABLE', 'TBODY', 'DETAILS']);

// update makes an element equal to another. Children with the same content are kept,
// and with them the focus, the selection and a click in progress. Other children are
// replaced, except that grouping elements are updated in turn. The open attribute of
// <details> is left to the user.
function update(element, next) {
  for (const {name} of [...element.attributes]) if (name !== 'open' && !next.hasAttribute(name)) element.removeAttribute(name);
  for (const {name, value} of next.attributes) if (name !== 'open' && element.getAttribute(name) !== value) element.setAttribute(name, value);
  const ours = [...element.childNodes], theirs = [...next.childNodes];
  let begin = 0, end = ours.length, last = theirs.length; // of the children that differ
  while (begin < end && begin < last && ours[begin].isEqualNode(theirs[begin])) begin++;
  for (; begin < end && begin < last && ours[end - 1].isEqualNode(theirs[last - 1]); end--) last--;
  const keys = new Map();
  const key = (node) => keys.get(node) ?? keys.set(node, node.tagName + node.innerHTML).get(node);
  const isElement = (node) => node.nodeType === Node.ELEMENT_NODE;
  const had = Map.groupBy(ours.slice(begin, end).filter(isElement), key), wanted = new Set(theirs.slice(begin, last).filter(isElement).map(key));
  for (const node of ours.slice(begin, end)) if (!isElement(node)) node.remove();
  const stop = ours[end] ?? null;
  let at = begin > 0 ? ours[begin - 1].nextSibling : element.firstChild; // the children before it are done
  const drop = () => {
    const dropped = at;
    at = at.nextSibling;
    dropped.remove();
  };
  for (const node of theirs.slice(begin, last)) {
    let same = had.get(key(node))?.shift();
    if (same?.parentNode !== element && groups.has(node.tagName)) {
      for (same = at; same !== stop && same.tagName !== node.tagName && !wanted.has(key(same));) same = same.nextSibling;
      if (same === stop || wanted.has(key(same))) same = undefined;
    }
    if (same?.parentNode === element) {
      while (at !== same) drop();
      at = same.nextSibling;
      update(same, node);
    } else {
      element.insertBefore(document.importNode(node, true), at);
    }
  }
  while (at !== stop) drop();
}

// load fetches a page and updates <main> to match its <main>. The browser parses the
// response as a separate document, in which no script runs.
function load(url, {keepScroll = false} = {}) {
  request?.abort();
  clearTimeout(late);
  late = setTimeout(() => { connection.hidden = false; }, 5000);
  const r = request = new XMLHttpRequest();
  return new Promise((resolve) => {
    r.open('GET', url);
    r.responseType = 'document';
    r.onerror = () => { connection.hidden = false; };
    r.onloadend = () => {
      clearTimeout(late);
      if (r !== request || r.status === 0) return resolve(false);
      connection.hidden = true;
      const next = r.response?.querySelector('main');
      if (!next) return resolve(false);
      const chosen = main.querySelectorAll('input:checked:not([checked])');
      update(main, next);
      for (const {name, value} of chosen) {
        const again = main.querySelector(`[name="${name}"][value="${value}"]`);
        if (again) again.checked = true;
      }
      document.title = r.response.title;
      light(!keepScroll);
      refreshLater();
      resolve(true);
    };
    r.send();
  });
}

// Search as the user types.
field.addEventListener('input', () => {
  const query = new URLSearchParams(new FormData(field.form));
  query.set('q', field.value.trim());
  const next = '/' + (query.get('q') ? '?' + query : '');
  if (location.pathname === '/') {
    history.replaceState(null, '', next);
  } else {
    remember();
    history.pushState(null, '', next);
    history.scrollRestoration = 'auto';
  }
  scrollTo(0, 0); // to the best hits
  shown = address();
  document.querySelector('nav [aria-current]')?.removeAttribute('aria-current');
  load(next).then((done) => { // screen readers announce the number of hits
    if (done) document.getElementById('the-news').textContent = main.querySelector('h1').textContent;
  });
});
addEventListener('popstate', () => {
  if (address() !== shown) location.reload(); // a link to a heading changes only the fragment
});

// remember saves the position in the page for a return to it: in a note, where the first block on
// the screen is. The browser's own position is that of another block if it has only estimated the
// heights of the blocks before it.
function remember() {
  const {left, width} = main.getBoundingClientRect();
  let line;
  for (let y = document.querySelector('header').offsetHeight; !line && y < innerHeight; y += 8) {
    line = document.elementFromPoint(left + Math.min(width / 2, 300), y)?.closest('article [data-l]')?.dataset.l;
  }
  history.replaceState({scroll: scrollY, line, top: blockAt(line)?.getBoundingClientRect().top}, '');
  history.scrollRestoration = 'manual';
}
addEventListener('pagehide', () => { if (address() === shown) remember(); });
const blockAt = (line) => document.querySelector(`article [data-l="${line}"]`);

// comeBack restores the position that remember saved.
function comeBack() {
  const {scroll, line, top} = history.state;
  const block = blockAt(line);
  scrollTo(0, block ? scrollY + block.getBoundingClientRect().top - top : scroll);
}

// light highlights the lines of a URL fragment such as #L12-L18. If no block has them, as with a
// blank line, it highlights the next block or else the last one.
function light(scroll = true) {
  document.querySelectorAll('.lit').forEach((e) => e.classList.remove('lit'));
  const range = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
  if (!range) return;
  const from = Number(range[1]), to = Number(range[2] ?? range[1]);
  let first, next, last;
  for (const block of document.querySelectorAll('article [data-l]')) {
    const [a, b] = block.dataset.l.split('-').map(Number);
    if (block.querySelector('[data-l]')) continue;
    if (b < from) last = block;
    else if (a > to) next ??= block;
    else {
      block.classList.add('lit');
      first ??= block;
    }
  }
  first ??= next ?? last;
  first?.classList.add('lit');
  if (!scroll) return;
  for (let e = first; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  first?.scrollIntoView({block: 'start'});
}
addEventListener('hashchange', () => light());

// Keys: / focuses the search field, and the arrows move between hits.
addEventListener('keydown', (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches?.('input, textarea, select, canvas');
  if (event.key === '/' && !typing) {
    event.preventDefault();
    field.focus();
    field.select();
  }
  if (event.key === 'Escape' && event.target === field) {
    event.preventDefault(); // Chromium would empty the field of the hits that are shown
    field.blur();
  }
  const hits = [...document.querySelectorAll('a.hit')];
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  const at = hits.indexOf(document.activeElement);
  if (!step || !hits.length || (typing && event.target !== field) || (at < 0 && event.target !== field)) return;
  event.preventDefault();
  if (at + step < 0) field.focus();
  else hits[Math.min(at + step, hits.length - 1)].focus();
});

// reload updates live pages after a change, or once the page is visible.
let missed = false, busy = false;
async function reload() {
  if (document.hidden || busy) {
    missed = true;
    return;
  }
  busy = true;
  missed = false;
  dispatchEvent(new Event('vaultchange'));
  if (main.hasAttribute('data-live')) await load(address(), {keepScroll: true});
  busy = false;
  if (missed) reload();
}
document.addEventListener('visibilitychange', () => {
  listen();
  if (missed) reload();
});

let timer;
function refreshLater() {
  clearTimeout(timer);
  const wait = Number(main.dataset.refresh);
  if (wait) timer = setTimeout(reload, wait);
}

// The stream sends the number of changes, at first and after each. It reconnects
// automatically; a restarted server counts from zero. A hidden page has none, because
// browsers open at most six connections to a server.
const connection = document.getElementById('the-connection');
let stream;
function listen() {
  stream?.close();
  if (document.hidden) return;
  stream = new EventSource('/events');
  stream.addEventListener('change', ({data}) => {
    if (data !== main.dataset.changes) {
      main.dataset.changes = data;
      reload();
    }
  });
  stream.onopen = () => { connection.hidden = true; };
  stream.onerror = async () => {
    if (stream.readyState !== EventSource.CLOSED) {
      connection.hidden = false;
      return;
    }
    // The page of the graph does not ask the daemon, and is refused to a browser that is not signed in.
    const signedOut = await fetch('/graph', {method: 'HEAD'}).then(({status}) => status === 401, () => false);
    connection.hidden = signedOut;
    setTimeout(listen, 1000); // the stream does not reconnect after an error response
    if (!signedOut || main.dataset.changes === '') return;
    await load(address()); // says so
    main.dataset.changes = ''; // to reload once the browser is signed in
  };
}
listen();
light(!history.state);
if (history.state) {
  comeBack();
  addEventListener('load', async () => {
    let moved = false;
    for (const kind of ['wheel', 'keydown', 'pointerdown']) addEventListener(kind, () => { moved = true; }, {once: true});
    for (let i = 0; i < 10 && !moved && history.state; i++) { // blocks that come near the screen are laid out in later frames
      comeBack();
      await new Promise(requestAnimationFrame);
    }
    history.scrollRestoration = 'auto';
  });
}
refreshLater();
