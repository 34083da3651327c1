/** Hostile text in data that `withFilledService` leaves out: agents, runs, scenarios, evals, and keys. */
import type { Test } from 'tap';
import { schemas, type Scenario } from '../../../src/contract/index.ts';
import { report, row } from '../conformance/check-report.ts';
import { HOSTILE_MARKUP } from './hostile-markup.ts';
import { reply, respondWith, withSandboxDouble } from '../sandboxes/sandbox-double.ts';
import { makeContainsEval, type ServiceUnderTest } from '../services/service.ts';
import { makeScenario } from '../sessions/scenarios.ts';
import { seedRun } from '../sessions/seeded-run.ts';
import { makeSpan } from '../traces/otlp.ts';

/** The hostile text as short lines: one that breaks out of elements, and one with an image. */
export const [LINE = '', IMAGE = ''] = HOSTILE_MARKUP.split('\n');

/** The hostile text on one line, where line breaks and control characters are not allowed. */
export const WIDE = HOSTILE_MARKUP.replaceAll(/[\r\n\0]/g, ' ').slice(0, 190);
const FLAT = WIDE.slice(0, 90);

/** A scenario with hostile text in every field that allows one. */
export const makeHostileScenario = (): Scenario => {
  const text = HOSTILE_MARKUP.slice(0, 9_000);
  const condition = { contains: text, lacks: text, tool_called: FLAT };
  return {
    id: 'h',
    name: FLAT,
    category: FLAT,
    tags: [FLAT],
    persona: 'p',
    initial_messages: [{ role: 'user', content: text }],
    user: {
      goal: text,
      opening: text,
      stop_when: [condition],
      facts: [{ name: FLAT, value: text }],
      steps: [{ say: text, when: condition, otherwise: text }],
      reactions: [{ when: condition, say: text }],
    },
    evals: [{ id: 'e', name: FLAT, kind: 'contains', params: { text } }],
    metadata: { time_of_day: text },
    profile: { name: text },
  };
};

/** Adds an agent whose sandbox responds with hostile text, and reports that contain it. */
async function addHostileAgent(t: Test, { admin }: ServiceUnderTest): Promise<void> {
  const double = await withSandboxDouble(t);
  const page = respondWith(500, HOSTILE_MARKUP);
  double.setBehavior({ health: page, create: page, chat: page, delete: page });
  await admin('POST /agents', { id: 'shop', name: FLAT, url: double.url });
  await admin('POST /agents/shop/connection');
  const hostile = {
    rule: HOSTILE_MARKUP,
    hint: HOSTILE_MARKUP,
    curl: HOSTILE_MARKUP,
    expected: HOSTILE_MARKUP,
    received: HOSTILE_MARKUP,
    verdict: 'fail' as const,
  };
  const check = report([row('CHAT-001', hostile)], { target: HOSTILE_MARKUP });
  const causes = [{ description: HOSTILE_MARKUP, clears: ['CHAT-001'], verified: true }];
  await admin('POST /agents/shop/reports', { ...check, causes, waived: [HOSTILE_MARKUP] });
  const [load] = schemas.LoadReport.examples;
  await admin('POST /agents/shop/reports', {
    ...load,
    sentence: HOSTILE_MARKUP,
    notes: [HOSTILE_MARKUP],
    targets: load.targets.map((target) => ({ ...target, reason: HOSTILE_MARKUP })),
  });
}

/** Runs two simulations with hostile names, in the second of which the sandbox says hostile text. */
async function addHostileSimulations(
  t: Test,
  { admin, drain }: ServiceUnderTest,
): Promise<string[]> {
  const sandbox = await withSandboxDouble(t, { chat: reply('shipped') });
  const ids: string[] = [];
  for (const [name, text] of [
    [`${LINE} before`, 'shipped'],
    [LINE, HOSTILE_MARKUP],
  ] as const) {
    sandbox.setBehavior({ chat: reply(text) });
    const scenario = makeScenario({
      id: 'hostile',
      name: LINE,
      user: { opening: HOSTILE_MARKUP.replaceAll('\0', '').toWellFormed() },
      evals: [{ ...makeContainsEval('e', 'shipped'), name: LINE }],
    });
    const agent = { name: LINE, url: sandbox.url };
    const body = { name, agent, scenarios: [scenario], seed: 'hostile' };
    ids.push(((await admin('POST /simulations', body)) as { id: string }).id);
    await drain();
  }
  return ids;
}

/** Adds two production runs with hostile names, outcomes, and tags. */
async function addHostileRuns({ admin }: ServiceUnderTest): Promise<void> {
  const runs = [1, 2].map((nth) => {
    const name = `${LINE} ${nth}`;
    const { sessions } = seedRun(name, [{ id: name, outcome: 'fail', text: HOSTILE_MARKUP }]);
    const metadata = { [LINE]: name };
    const named = (outcome: object) => ({ ...outcome, eval_name: LINE });
    return {
      name,
      sessions: sessions.map((session) => ({
        ...session,
        metadata,
        outcomes: session.outcomes.map(named),
      })),
    };
  });
  await admin('POST /seed', { runs });
}

/** Sends conversations with hostile tags and tool calls: one scored, one unscored, and one open. */
async function sendHostileConversations({
  admin,
  trace,
  end,
  drain,
}: ServiceUnderTest): Promise<void> {
  const converse = async (conversationId: string): Promise<void> => {
    const said = { user: HOSTILE_MARKUP, agent: HOSTILE_MARKUP };
    await trace(makeSpan({ conversationId, ...said, attributes: { [LINE]: HOSTILE_MARKUP } }));
    const attributes = {
      'gen_ai.tool.name': IMAGE,
      'gen_ai.tool.call.arguments': JSON.stringify({ [IMAGE]: HOSTILE_MARKUP }),
    };
    await trace(makeSpan({ conversationId, operation: 'execute_tool', attributes }));
  };
  await converse(`${LINE} scored`);
  await end(`${LINE} scored`);
  await drain();
  await admin('PUT /settings', { evals: [], run_name: IMAGE });
  await converse(`${LINE} unscored`);
  await end(`${LINE} unscored`);
  await converse(`${LINE} open`);
  // An eval that was deleted is still chosen.
  await admin('POST /evals', makeContainsEval('gone', 'x', { name: IMAGE }));
  await admin('PUT /settings', { evals: ['gone'], run_name: IMAGE });
  await admin('DELETE /evals/gone');
}

/** Adds hostile text where `withFilledService` has none. Returns the paths of pages that show it. */
export async function addHostileData(t: Test, tested: ServiceUnderTest): Promise<string[]> {
  const { admin } = tested;
  const shared = { name: IMAGE, category: LINE };
  await admin('POST /evals', { ...makeContainsEval('text', HOSTILE_MARKUP), ...shared });
  const criteria = { criteria: HOSTILE_MARKUP };
  await admin('POST /evals', { id: 'judged', kind: 'judge', ...shared, params: criteria });
  const params = { name: 'x', arguments: { [HOSTILE_MARKUP]: HOSTILE_MARKUP } };
  await admin('POST /evals', { id: 'args', kind: 'tool_args', ...shared, params });
  const labels = HOSTILE_MARKUP.split('\n').map((line) => line.slice(0, 100));
  const keys = labels.map((label, nth) => ({ key: `key-${nth}-of-6`, label }));
  await admin('POST /seed', { keys });
  const characteristics = HOSTILE_MARKUP.slice(0, 9_000);
  await admin('POST /personas', { id: 'p', name: FLAT, characteristics, tags: [FLAT] });
  await admin('POST /scenarios', makeHostileScenario());
  await addHostileAgent(t, tested);
  const [before, after] = await addHostileSimulations(t, tested);
  await addHostileRuns(tested);
  await sendHostileConversations(tested);
  const { items } = await tested.production('?limit=100');
  const scored = items.find(({ source_session_id: id }) => id.endsWith('scored'));
  const [first, second] = items
    .filter(({ run }) => run.startsWith(LINE))
    .map(({ url }) => new URL(url).pathname);
  const { pathname, search } = new URL(scored?.url ?? '');
  const name = encodeURIComponent(LINE);
  const list = encodeURIComponent(`kind=production&text=${name}`);
  return [
    ...['text', 'judged', 'args'].flatMap((id) => [
      `/evals/edit?id=${id}`,
      `/evals/edit?id=${id}&as=json`,
    ]),
    ...[
      '/agents/shop',
      '/agents/shop/chat',
      '/agents/shop/call',
      '/agents/shop/check',
      '/agents/shop/load',
      '/scenarios/h',
      '/personas/p',
      '/compare?kind=simulation',
    ],
    ...[1, 2, 3].map((nth) => `/agents/shop/reports/${nth}`),
    ...[first, second, `/simulation/${before}`, `/simulation/${after}`].map(String),
    `/compare?a=${before}&b=${after}`,
    `/compare?a=${String(second?.split('/')[2])}&b=${String(first?.split('/')[2])}`,
    ...['production', 'simulation'].map((kind) => `/runs?kind=${kind}&name=${name}`),
    `/sessions?kind=production&text=${name}`,
    `/sessions?kind=production&tag=${encodeURIComponent(`${LINE}=x`)}`,
    ...['open', 'unscored'].map((kind) => `/sessions?kind=${kind}`),
    `/conversation?id=${encodeURIComponent(`${LINE} open`)}`,
    `${pathname}${search}&list=${list}`,
  ];
}
