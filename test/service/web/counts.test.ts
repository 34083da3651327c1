/** Each number in a link to a list is the number of rows that the list has. */
import t, { type Test } from 'tap';
import { refusal, reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';
import { startSimulation } from '../../support/sessions/shop-simulation.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

/** More pages than this show that the walk does not end. */
const PAGES_MAX = 500;

const judge = { id: 'judged', name: 'Judged', kind: 'judge', params: { criteria: 'Is polite.' } };

/** Sends conversations that pass, fail, and error, with evals of several versions, and others that wait. */
async function addProduction(tested: ServiceUnderTest): Promise<void> {
  const { admin, trace, end, drain } = tested;
  const converse = async (conversationId: string, agent: string): Promise<void> => {
    await trace(makeSpan({ conversationId, agent }));
    await end(conversationId);
  };
  await converse('not scored', 'One moment.');
  await admin('POST /evals', makeContainsEval('shipped', 'shipped'));
  await admin('POST /evals', { ...makeContainsEval('polite', 'please'), required: false });
  await admin('POST /evals', judge);
  for (const [run, evals] of Object.entries({
    Monday: ['shipped'],
    Tuesday: ['shipped', 'polite', 'judged'],
    Wednesday: ['judged'],
  })) {
    await admin('PUT /settings', { evals, run_name: run });
    await converse(`passing on ${run}`, 'It shipped.');
    await converse(`failing on ${run}`, 'I lost it.');
    await drain();
    await admin('POST /evals', {
      ...makeContainsEval('shipped', 'shipped'),
      name: `Ships since ${run}`,
    });
  }
  await admin('PUT /settings', { evals: [] });
  await converse('also not scored', 'One moment.');
  await trace(makeSpan({ conversationId: 'still open' }));
  const outcome = (name: string, result: string) => ({
    eval_name: name,
    outcome: result,
    reasoning: 'It was.',
  });
  const session = (id: string, ...outcomes: object[]) => ({
    source_session_id: id,
    started_at: '2026-11-19T10:00:00Z',
    outcomes,
  });
  await admin('POST /seed', {
    runs: [
      {
        name: 'Uploaded',
        sessions: [
          session('rude', outcome('Polite', 'fail'), outcome('Short', 'pass')),
          session('long', outcome('Polite', 'pass'), outcome('Short', 'fail')),
          session('unclear', outcome('Polite', 'error')),
          session('without outcomes'),
        ],
      },
    ],
  });
}

/** Runs simulations with passed, failed, and undecided sessions, and deletes one of them. */
async function addSimulations(t: Test, tested: ServiceUnderTest): Promise<void> {
  const { admin, drain } = tested;
  const sandbox = await withSandboxDouble(t, {
    chat: (response, request) => {
      const text = JSON.stringify(request.body);
      if (text.includes('broken')) refusal(400, 'bad_request')(response, request);
      else reply(text.includes('lost') ? 'I lost it.' : 'It shipped.')(response, request);
    },
  });
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: sandbox.url });
  await admin('POST /personas', { id: 'calm', name: 'Calm' });
  for (const id of ['found', 'lost', 'broken']) {
    const user = { opening: `Where is my ${id} parcel?` };
    const inline = { ...makeContainsEval('shared', 'shipped'), name: `Of ${id}` };
    const evals = ['shipped', inline];
    await admin('POST /scenarios', makeScenario({ id, name: id, user, persona: 'calm', evals }));
  }
  const scenarios = ['found', 'lost', 'broken'];
  for (const name of ['First', 'Second', 'Third']) {
    await startSimulation(tested, { agent: 'shop', scenarios, samples: 2, seed: name, name });
    await drain();
  }
  const deleted = await startSimulation(tested, { agent: 'shop', scenarios, name: 'Deleted' });
  await drain();
  await admin(`DELETE /simulations/${deleted}`);
}

const toText = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

const parseCount = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits.replaceAll(',', ''));

/** Returns the number of a link: the last of "2", "1 of 2", and "1/2"; else the one before the link. */
function readNumber(before: string, text: string): number | undefined {
  const part = /[\d,]+ ?(?:of|\/) ?([\d,]+)/.exec(text) ?? /\b(\d[\d,]*) ?(?=[a-z]|$)/.exec(text);
  return parseCount(part?.[1] ?? /(?:^| )(\d[\d,]*)$/.exec(before)?.[1]);
}

/** Returns how many rows a list says that it has. */
function readTotal(path: string, html: string): number | undefined {
  const text = toText(html);
  const noun = path === '/runs' ? '(?:runs?|simulations?)' : '(?:sessions?|conversations?)';
  const total = new RegExp(`(\\d[\\d,]*) ${noun}(?: with these filters)?, newest`).exec(text);
  return parseCount(total?.[1]);
}

/** Returns the HTML of a page; empty if the path leads to another format. */
async function readPage(url: string): Promise<string> {
  const response = await fetch(url, { headers: { accept: 'text/html' } });
  const isHtml = response.headers.get('content-type')?.startsWith('text/html');
  return isHtml ? response.text() : '';
}

/** Returns the links of a page to the same service, and the text before each. */
function findLinks(html: string): { before: string; href: string; text: string }[] {
  const main = /<main.*<\/main>/s.exec(html)?.[0] ?? '';
  const links = main.matchAll(/<a\b[^>]*?href="(\/[^"#]*)[^"]*"[^>]*>(.*?)<\/a\s*>/gs);
  return Array.from(links, ({ index, 1: href = '', 2: content = '' }) => ({
    before: toText(main.slice(0, index)),
    href: href.replaceAll('&amp;', '&'),
    text: toText(content),
  }));
}

/** The pages whose links were compared. */
const COMPARED = [
  '/',
  '/agents/shop',
  '/compare',
  '/production-eval',
  '/runs',
  '/scenarios/found',
  '/simulation',
];

void t.test('each number in a link to a list is the total of that list', async (t) => {
  const tested = await withService(t);
  await addProduction(tested);
  await addSimulations(t, tested);
  const { url: origin } = tested.service;
  const pages = new Map<string, Promise<string>>();
  const read = (path: string): Promise<string> => {
    const page = pages.get(path) ?? readPage(`${origin}${path}`);
    pages.set(path, page);
    return page;
  };
  await read('/');
  const compared = new Set<string>();
  const runs = new Set<string>();
  // A Map includes the entries that are added while it is read.
  for (const [path, page] of pages) {
    for (const { before, href, text } of findLinks(await page)) {
      const { pathname, searchParams } = new URL(href, origin);
      // One session of each run is enough.
      if (searchParams.has('sessionId')) {
        if (runs.has(pathname)) continue;
        runs.add(pathname);
      }
      const target = await read(href);
      const number = readNumber(before, text);
      if (!['/sessions', '/runs'].includes(pathname) || number === undefined) continue;
      const from = new URL(path, origin).pathname;
      compared.add(/^\/(?:production-eval|simulation)(?=\/)/.exec(from)?.[0] ?? from);
      t.equal(number, readTotal(pathname, target), `${path}: "${text}" leads to ${href}`);
    }
    if (pages.size > PAGES_MAX) break;
  }
  t.ok(pages.size <= PAGES_MAX, `${pages.size} pages`);
  for (const path of COMPARED) t.ok(compared.has(path), `${path} has numbers that lead to lists`);
});
