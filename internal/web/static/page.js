// page.js replaces the content of <main> while the user types and when notes
// change, lights the lines that the address names, and adds keys.

const main = document.querySelector('main');
const field = document.querySelector('input[type=search]');
let request; // the one in progress; a later one replaces it

// load fetches a page and shows its <main> in place of this one's. The browser
// parses the answer as a document of its own, in which no script runs.
function load(address, {keepScroll = false} = {}) {
  request?.abort();
  const r = request = new XMLHttpRequest();
  return new Promise((resolve) => {
    r.open('GET', address);
    r.responseType = 'document';
    r.onloadend = () => {
      if (r !== request || r.status === 0) return resolve(false);
      const next = r.response?.querySelector('main');
      if (!next) return resolve(false);
      const top = scrollY;
      main.replaceChildren(...document.importNode(next, true).childNodes);
      for (const name of ['data-live', 'data-refresh', 'data-changes']) {
        if (next.hasAttribute(name)) main.setAttribute(name, next.getAttribute(name));
        else main.removeAttribute(name);
      }
      document.title = r.response.title;
      if (keepScroll) scrollTo(0, top);
      light(!keepScroll);
      refreshLater();
      resolve(true);
    };
    r.send();
  });
}

// Search as the user types.
field.addEventListener('input', () => {
  const address = '/' + (field.value.trim() ? '?q=' + encodeURIComponent(field.value.trim()) : '');
  if (location.pathname === '/') history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  document.querySelector('nav [aria-current]')?.removeAttribute('aria-current');
  load(address);
});
addEventListener('popstate', () => location.reload());

// Light the lines of an address like #L12-L18.
function light(scroll = true) {
  document.querySelectorAll('.lit').forEach((e) => e.classList.remove('lit'));
  const range = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
  if (!range) return;
  const from = Number(range[1]), to = Number(range[2] ?? range[1]);
  let first;
  for (const block of document.querySelectorAll('[data-l]')) {
    const [a, b] = block.dataset.l.split('-').map(Number);
    if (b < from || a > to || block.querySelector('[data-l]')) continue;
    block.classList.add('lit');
    first ??= block;
  }
  if (scroll) first?.scrollIntoView({block: 'start'});
}
addEventListener('hashchange', () => light());

// Keys: / goes to the field, the arrows from hit to hit.
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches?.('input, textarea, select, canvas');
  if (event.key === '/' && !typing) {
    event.preventDefault();
    field.focus();
    field.select();
  }
  if (event.key === 'Escape' && event.target === field) field.blur();
  const hits = [...document.querySelectorAll('a.hit')];
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  const at = hits.indexOf(document.activeElement);
  if (!step || !hits.length || (typing && event.target !== field) || (at < 0 && event.target !== field)) return;
  event.preventDefault();
  if (at + step < 0) field.focus();
  else hits[Math.min(at + step, hits.length - 1)].focus();
});

// Pages that show what changes are loaded again when it does.
let missed = false, busy = false;
async function reload() {
  if (document.hidden || busy) {
    missed = true;
    return;
  }
  busy = true;
  missed = false;
  dispatchEvent(new Event('vaultchange'));
  if (main.hasAttribute('data-live')) await load(location.pathname + location.search, {keepScroll: true});
  busy = false;
  if (missed) reload();
}
document.addEventListener('visibilitychange', () => missed && reload());

let timer;
function refreshLater() {
  clearTimeout(timer);
  const wait = Number(main.dataset.refresh);
  if (wait) timer = setTimeout(reload, wait);
}

// The stream says how many changes there have been, at first and after each. It
// comes back by itself; a server that was started again counts anew.
const connection = document.getElementById('connection');
function listen() {
  const stream = new EventSource('/events');
  stream.addEventListener('change', ({data}) => {
    if (data !== main.dataset.changes) {
      main.dataset.changes = data;
      reload();
    }
  });
  stream.onopen = () => { connection.hidden = true; };
  stream.onerror = () => {
    connection.hidden = false;
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 1000); // it gives up after an answer that is no stream
  };
}
listen();
light();
refreshLater();
