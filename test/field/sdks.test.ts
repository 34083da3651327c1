/**
 * Real agent SDKs, each in a program of its own (`sdks/`): two turns and one tool call, exported to the
 * service. Either its results show exactly that, or it names a cure that makes them do so.
 */
import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { seededRandom, type Random } from '../../src/platform/random.ts';
import { lintTraces } from '../../src/service/index.ts';
import { dialog } from './model-server.ts';
import { runSdk, sendRequests, type SdkRun, type TraceRequestJson } from './run-sdk.ts';

/** One configuration of an SDK. */
interface SdkRow {
  /** `sdks/PROGRAM.mjs`. */
  program: string;
  sdk: string;
  /** The package of `test/field/package.json` whose version counts. */
  package: string;
  /** What the ingest log and lint-traces say; only if the turns are not right without the cure. */
  diagnosis?: RegExp;
}

const rows: readonly SdkRow[] = [
  {
    program: 'ai-6',
    sdk: 'AI SDK 6',
    package: 'ai6',
    diagnosis: /spans of AI SDK 6 .* Upgrade to AI SDK 7 and call registerTelemetry/,
  },
  { program: 'ai-7', sdk: 'AI SDK 7', package: 'ai' },
];

const [withTool, withoutTool] = dialog;
const TOOL_CALL = 'find_order({"order_id":"A-17"}) = {"order_id":"A-17","status":"shipped"}';
const expectedTurns = [
  `${withTool.question} > ${TOOL_CALL} > ${withTool.answer}`,
  `${withoutTool.question} > ${withoutTool.answer}`,
];

const manifest = new URL('package.json', import.meta.url);
const isInstalled = existsSync(new URL('node_modules', import.meta.url));
const skip = isInstalled ? false : 'the SDKs are not installed; run npm run test:field';
const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as {
  dependencies: Record<string, string>;
};

for (const row of rows) {
  const version = dependencies[row.package]?.replace(/^.*@/, '') ?? 'unknown version';
  void t.test(`${row.sdk} (${version})`, { skip }, async (t) => {
    const plain = await runSdk(t, row.program, { isCured: false });
    let run = plain;
    if (row.diagnosis) {
      t.notSame(plain.turns, expectedTurns, 'the turns are not right without the cure');
      t.match(plain.warnings.join('\n'), row.diagnosis, 'the ingest log names the cure');
      t.match(lintAll(plain).join('\n'), row.diagnosis, 'lint-traces names the cure');
      if (plain.end.status === 404) t.match(plain.end.message, /ignored/, 'the 404 says why');
      run = await runSdk(t, row.program, { isCured: true });
    }
    t.same(run.turns, expectedTurns, row.diagnosis ? 'with the cure' : 'without a setting');
    for (const [order, requests] of Object.entries(rearrange(run.requests))) {
      const { turns } = await sendRequests(t, requests, run.conversationId);
      t.same(turns, expectedTurns, order);
    }
  });
}

/** Returns the warnings of lint-traces about all requests. */
function lintAll({ requests, conversationId }: SdkRun): string[] {
  return requests.flatMap((request) => {
    const bytes = Buffer.from(JSON.stringify(request));
    const { refused, notes } = lintTraces(bytes, { conversationId });
    const messages = notes.filter(({ level }) => level !== 'info').map(({ message }) => message);
    return refused ? [refused.message, ...messages] : messages;
  });
}

/** Returns the spans of all requests in other orders and groups. */
function rearrange(requests: readonly TraceRequestJson[]): Record<string, TraceRequestJson[]> {
  const single = requests.flatMap(splitRequest);
  const random = seededRandom('spans');
  return {
    'split span by span': single,
    'span by span, reversed': single.toReversed(),
    'shuffled, in one request': [mergeRequests(shuffle(single, random))],
    'shuffled and repeated': shuffle([...single, ...single], random),
  };
}

function splitRequest({ resourceSpans }: TraceRequestJson): TraceRequestJson[] {
  return resourceSpans.flatMap((resource) =>
    resource.scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        resourceSpans: [{ ...resource, scopeSpans: [{ ...scope, spans: [span] }] }],
      })),
    ),
  );
}

function mergeRequests(requests: readonly TraceRequestJson[]): TraceRequestJson {
  return { resourceSpans: requests.flatMap(({ resourceSpans }) => resourceSpans) };
}

function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, rank: random.integer(0, 1_000_000) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
