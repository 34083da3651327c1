/**
 * An agent as fast as a test double finishes several turns within the millisecond to which the clock of
 * the OpenTelemetry SDK is rounded. Their order must be right, however their spans are sent.
 */
import { ROOT_CONTEXT, trace, type Attributes, type Tracer } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import t, { type Test } from 'tap';
import { seededRandom, type Random } from '../../../src/platform/random.ts';
import { isPostgres } from '../../support/database/store.ts';
import { atNight } from '../../support/nightly.ts';
import { withService, type ServiceUnderTest } from '../../support/services/service.ts';
import {
  startExporter,
  type ExportOptions,
  type TestExporter,
} from '../../support/traces/exporting.ts';
import {
  agent,
  makeToolCallMessage,
  makeToolResultMessage,
  system,
  user,
} from '../../support/traces/stored-span.ts';
import { shuffle } from '../../support/traces/turn-shapes.ts';

/** The lines of a user and an agent. Later turns are shorter, so that no length shows the order. */
const script: readonly (readonly [string, string])[] = [
  ['Good morning! I have a question about the order that I placed on Monday.', 'Which order?'],
  ['It is order A-17, the one with the garden chairs and the table.', 'Do you want a refund?'],
  ['Yes', 'Are you sure?'],
  ['Yes', 'Are you sure?'],
  ['Yes', 'It is done.'],
  ['Bye', 'Bye!'],
];

/** How clients repeat the history in the input of a call. */
const inputs = {
  all: (history: readonly object[]) => history,
  'after a system prompt': (history: readonly object[]) => [system('Be brief.'), ...history],
  'only the last messages': (history: readonly object[]) => history.slice(-7),
  'only the new message': (history: readonly object[]) => history.slice(-1),
} as const;

type InputForm = keyof typeof inputs;

interface Recording {
  /** The tracer of each turn; after the last one, the first one again. */
  tracers: readonly Tracer[];
  conversationId: string;
  form: InputForm;
}

/** Records a conversation where each turn is a model call. */
function recordCalls({ tracers, conversationId, form }: Recording): void {
  const history: object[] = [];
  for (const [turn, [line, response]] of script.entries()) {
    history.push(user(line));
    record(tracerOf(tracers, turn), 'chat', {
      'gen_ai.conversation.id': conversationId,
      'gen_ai.input.messages': JSON.stringify(inputs[form](history)),
      'gen_ai.output.messages': JSON.stringify([agent(response)]),
    });
    history.push(agent(response));
  }
}

/** Records a conversation where each turn is an agent with a tool loop. */
function recordAgents({ tracers, conversationId, form }: Recording): void {
  const history: object[] = [];
  for (const [turn, [line, response]] of script.entries()) {
    const tracer = tracerOf(tracers, turn);
    history.push(user(line));
    const toAttributes = (output: object, ...steps: object[]): Attributes => ({
      'gen_ai.conversation.id': conversationId,
      'gen_ai.input.messages': JSON.stringify([...inputs[form](history), ...steps]),
      'gen_ai.output.messages': JSON.stringify([output]),
    });
    const wrapper = tracer.startSpan('agent', {}, ROOT_CONTEXT);
    const inside = trace.setSpan(ROOT_CONTEXT, wrapper);
    const call = makeToolCallMessage('find', { turn });
    record(tracer, 'chat', toAttributes(call), inside);
    const tool = { 'gen_ai.tool.name': 'find', 'gen_ai.conversation.id': conversationId };
    record(tracer, 'execute_tool', tool, inside);
    const result = makeToolResultMessage({ turn });
    record(tracer, 'chat', toAttributes(agent(response), call, result), inside);
    wrapper.setAttributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': conversationId,
    });
    wrapper.end();
    history.push(agent(response));
  }
}

function tracerOf(tracers: readonly Tracer[], turn: number): Tracer {
  const tracer = tracers[turn % tracers.length];
  if (!tracer) throw new Error('A recording needs a tracer.');
  return tracer;
}

function record(
  tracer: Tracer,
  operation: string,
  attributes: Attributes,
  parent = ROOT_CONTEXT,
): void {
  const all = { 'gen_ai.operation.name': operation, ...attributes };
  tracer.startSpan(operation, { attributes: all }, parent).end();
}

/** Sends the spans of each export in several batches, one after the other. */
const sendInBatches =
  (split: (spans: readonly ReadableSpan[]) => readonly (readonly ReadableSpan[])[]) =>
  (inner: SpanExporter): SpanExporter => ({
    shutdown: () => inner.shutdown(),
    export(spans, done) {
      const [first = [], ...others] = split(spans);
      let batches = others;
      inner.export([...first], function next(result) {
        const [batch, ...rest] = batches;
        if (result.error || !batch) {
          done(result);
          return;
        }
        batches = rest;
        inner.export([...batch], next);
      });
    },
  });

/** Splits items into batches of up to three. */
function chunk<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / 3) }, (_, nth) =>
    items.slice(nth * 3, nth * 3 + 3),
  );
}

interface Way {
  options: (random: Random) => ExportOptions;
  /** How many exporters send at the same time; they take turns in recording turns (default: 1). */
  exporters?: number;
  record: (recording: Recording) => void;
  forms: readonly InputForm[];
}

/** Without a history, only the order of arrival shows the order of turns that start together. */
const repeating = ['all', 'after a system prompt', 'only the last messages'] as const;
const everyForm = [...repeating, 'only the new message'] as const;

const ways: Readonly<Record<string, Way>> = {
  'each span alone': {
    options: () => ({ isSimple: true }),
    record: recordCalls,
    forms: repeating,
  },
  'in batches, as protobuf': {
    options: () => ({ exporter: 'OTLP/protobuf with gzip' }),
    record: recordCalls,
    forms: everyForm,
  },
  'in shuffled batches': {
    options: (random) => ({
      wrap: sendInBatches((spans) => chunk(shuffle(spans, random))),
    }),
    record: recordCalls,
    forms: repeating,
  },
  'each span twice': {
    options: (random) => ({
      wrap: sendInBatches((spans) => [...chunk(spans), ...chunk(shuffle(spans, random))]),
    }),
    record: recordCalls,
    forms: everyForm,
  },
  'from three exporters concurrently': {
    options: () => ({}),
    exporters: 3,
    record: recordCalls,
    forms: repeating,
  },
  'agents after all that they contain': {
    options: (random) => ({
      wrap: sendInBatches((spans) => {
        const isAgent = ({ name }: ReadableSpan) => name === 'agent';
        const inner = spans.filter((span) => !isAgent(span));
        return [...chunk(shuffle(inner, random)), spans.filter(isAgent)];
      }),
    }),
    record: recordAgents,
    forms: everyForm,
  },
};

/** An eval of the order, so that the test compares what evals see as well. */
const lastLine = {
  id: 'last',
  name: 'last',
  kind: 'json_path',
  params: { path: '$.turns[-1].user_input', equals: 'Bye' },
} as const;

/** PostgreSQL is tested three times at night: alone, with partitions, and with replicas. */
const CONVERSATIONS = atNight(isPostgres ? 200 : 1000, 20);

for (const [name, way] of Object.entries(ways)) {
  void t.test(`turns of one millisecond are in order: ${name}`, async (t) => {
    const settings = { evals: [lastLine.id] };
    const tested = await withService(t, { seed: { evals: [lastLine], settings } });
    const exporters = Array.from({ length: way.exporters ?? 1 }, (_, nth) =>
      startExporter(t, tested.service, way.options(seededRandom(`${name} ${nth}`))),
    );
    await sendConversations(tested, exporters, way);
    await tested.drain();
    const wrong = await listWrong(t, tested);
    t.strictSame(wrong, []);
  });
}

async function sendConversations(
  tested: ServiceUnderTest,
  exporters: readonly TestExporter[],
  way: Way,
): Promise<void> {
  const tracers = exporters.map(({ tracer }) => tracer);
  for (let nth = 0; nth < CONVERSATIONS; nth += 1) {
    const conversationId = `conversation-${nth}`;
    const form = way.forms[nth % way.forms.length] ?? 'all';
    way.record({ tracers, conversationId, form });
    await Promise.all(exporters.map(({ flush }) => flush()));
    await tested.end(conversationId);
    // At most 120 requests are admitted within a minute.
    tested.clock.advance(10_000);
  }
}

/** Describes conversations whose turns or outcome are wrong, up to three. */
async function listWrong(t: Test, tested: ServiceUnderTest): Promise<string[]> {
  const expected = script.map(([line, response]) => `${line} > ${response}`).join('\n');
  const wrong: string[] = [];
  let total = 0;
  for (let skip = 0; skip < CONVERSATIONS; skip += 500) {
    const { items } = await tested.production(`?include_traces=true&limit=500&skip=${skip}`);
    total += items.length;
    for (const { source_session_id: id, traces = [], eval_outcomes: outcomes } of items) {
      const lines = traces
        .toSorted((a, b) => a.session_sequence - b.session_sequence)
        .map((turn) => `${turn.user_input} > ${turn.agent_response}`)
        .join('\n');
      const outcome = outcomes[0]?.outcome;
      if (lines !== expected || outcome !== 'pass') wrong.push(`${id}, ${outcome}:\n${lines}`);
    }
  }
  t.equal(total, CONVERSATIONS);
  t.comment(`${wrong.length} of ${total} conversations are wrong`);
  return wrong.slice(0, 3);
}
