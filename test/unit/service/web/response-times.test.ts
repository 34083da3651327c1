/** Charts of response times and of turns per session. */
import t from 'tap';
import type { RunSummary, TimedSession } from '../../../../src/service/store/store.ts';
import { renderDistributions } from '../../../../src/service/web/runs/distribution-charts.ts';
import { renderResponseTimes } from '../../../../src/service/web/runs/response-time-chart.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 22);

const makeRun = (nth: number): RunSummary => ({
  id: `sim-${nth}`,
  name: `Nightly <${nth}>`,
  state: 'ended',
  sessions: 1,
  failedSessions: 0,
  erroredSessions: 0,
  incompleteSessions: 0,
  scoringSessions: 0,
  evaluations: 0,
  passedEvaluations: 0,
  newestStartMs: NOW_MS - nth * DAY_MS,
});

const UNSCORED = { evaluations: 0, passedEvaluations: 0 };

const makeSession = (
  responseMs: readonly number[],
  channel = 'chat',
  agent = 'Shop',
): TimedSession => ({ ...UNSCORED, agent, channel, turns: responseMs.length, responseMs });

const NAMELESS = { ...UNSCORED, agent: undefined, channel: undefined };

const captionsOf = (figures: readonly { text: string }[]): string[] =>
  figures.map(({ text }) => (/<figcaption>([^<]*)/.exec(text)?.[1] ?? '').replaceAll(/\s+/g, ' '));

void t.test('each agent and channel has its own chart of response times', (t) => {
  const runs = [makeRun(1), makeRun(2), makeRun(3)];
  const times = new Map([
    ['sim-1', [makeSession([100, 300]), makeSession([900], 'voice')]],
    ['sim-2', [makeSession([200]), makeSession([700], 'voice'), makeSession([5], 'chat', 'Bank')]],
    ['sim-3', [makeSession([400]), makeSession([], 'voice', 'Bank')]],
  ]);
  const charts = renderResponseTimes(runs, times, { kind: 'simulation', nowMs: NOW_MS });
  t.same(
    captionsOf(charts),
    [
      'Shop by chat: response time of the last 3 simulations, median from 400 ms to 100 ms. ',
      'Shop by voice: response time of the last 2 simulations, median from 700 ms to 900 ms. ',
    ],
    'a single run has no chart',
  );
  const chat = charts[0]?.text ?? '';
  t.equal(chat.match(/<circle /g)?.length, 3, 'medians are circles');
  t.equal(chat.match(/<rect\b/g)?.length, 3, 'percentiles are squares');
  t.match(chat, 'class="line c2 dashed"', 'and their line is dashed');
  t.match(chat, 'Nightly &lt;1&gt;: 95th percentile 300 ms of 2 turns');
  t.end();
});

void t.test('distributions of response times and turns are apart by agent and channel', (t) => {
  const charts = renderDistributions([
    makeSession([120, 130, 150, 900]),
    makeSession([450]),
    makeSession([2_500, 60_000], 'voice'),
  ]);
  t.same(captionsOf(charts), [
    'Shop by chat: response time of 5 turns, median 150 ms, 95th percentile 900 ms',
    'Shop by chat: turns of 2 sessions: 1 to 4',
    'Shop by voice: response time of 2 turns, median 2.5 s, 95th percentile 60 s',
    '',
  ]);
  const [times, turns, voice, single] = charts.map(({ text }) => text);
  t.match(times, /100 ms to 200 ms: 3 turns; 200 ms to 500 ms: 1 turn; 500 ms to 1 s: 1 turn"/);
  t.match(turns, /1 turn: 1 session; 2 turns: 0 sessions; 3 turns: 0 sessions; 4 turns: 1/);
  t.match(voice, '50 s or more: 1 turn');
  t.match(single, /<p class="soft">Shop by voice: turns of 1 session: 2\.<\/p>/, 'no chart');
  t.end();
});

void t.test('times without an agent have no name; unmeasured ones have no chart', (t) => {
  const [times, turns] = renderDistributions([
    { ...NAMELESS, turns: 2, responseMs: [10, 60] },
    { ...NAMELESS, turns: 1, responseMs: [70] },
  ]);
  t.match(times?.text, 'Response time of 3 turns');
  t.match(turns?.text, 'Turns of 2 sessions: 1 to 2');
  const charts = renderDistributions([{ ...NAMELESS, turns: 3, responseMs: [] }]);
  t.equal(charts.length, 1);
  t.match(charts[0]?.text, 'Turns of 1 session: 3.');
  t.same(renderDistributions([]), []);
  t.end();
});

void t.test('long sessions share bars', (t) => {
  const [chart] = renderDistributions(
    [1, 30, 60].map((turns) => ({
      ...UNSCORED,
      agent: 'A',
      channel: 'chat',
      turns,
      responseMs: [],
    })),
  );
  t.equal(chart?.text.match(/<rect/g)?.length, 20);
  t.match(chart?.text, '1 to 3 turns: 1 session');
  t.end();
});
