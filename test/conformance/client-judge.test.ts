/** The judgment of clients of the service: correct ones and faulty ones. */
import t, { type Test } from 'tap';
import { clientSuite } from '../../conformance/areas/index.ts';
import { judgeTranscript } from '../../conformance/engine/judge/judge.ts';
import { toExchange, type Transcript } from '../../conformance/engine/transcript/transcript.ts';
import {
  htmlReport,
  junitReport,
  markdownReport,
  readTranscript,
  reportOf,
  terminalReport,
  writeTranscript,
} from '../../conformance/index.ts';
import { runReferenceClient } from '../../conformance/proof/client/reference-client.ts';
import { createSeedDocument } from '../../conformance/proof/client/client-runs.ts';
import { findViolations, type ExchangeRecord } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { randomSeed, seededRandom, type Random } from '../../src/platform/random.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { end, openExport, read, send, sendSpans } from '../support/conformance/client-requests.ts';
import {
  judgeRun,
  retryFaults,
  type ClientSetup,
  type Target,
} from '../support/conformance/judged-client.ts';
import { damageJson, randomJson } from '../support/contract/random-json.ts';
import { atNight } from '../support/nightly.ts';
import { exporters, startExporter } from '../support/traces/exporting.ts';
import { formatMessages, makeHexId, makeSpan } from '../support/traces/otlp.ts';

const seed = createSeedDocument(systemClock.nowMs());

const turn = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.conversation.id': 'conv-1',
  'gen_ai.request.model': 'small',
  'gen_ai.usage.input_tokens': 12,
  'gen_ai.input.messages': formatMessages('user', 'Where is my parcel?'),
  'gen_ai.output.messages': formatMessages('assistant', 'It is on its way.'),
};

/** Exports one turn with the OpenTelemetry SDK. */
async function exportTurn(
  t: Test,
  target: Target,
  {
    attributes = turn,
    exporter,
  }: { attributes?: Record<string, unknown>; exporter?: Exporter } = {},
): Promise<void> {
  const { tracer, flush } = startExporter(t, target, exporter ? { exporter } : {});
  tracer.startSpan('GET /cart').end();
  tracer.startSpan('chat small', { attributes: attributes as never }).end();
  await flush();
}

type Exporter = (typeof exporters)[number];

for (const exporter of exporters) {
  void t.test(`the exporter of OpenTelemetry conforms: ${exporter}`, async (t) => {
    const client = async (target: Target): Promise<void> => {
      await exportTurn(t, target, { exporter });
      t.equal((await end(target)).status, 200);
    };
    const { report, failed, warned } = await judgeRun(t, client, { faults: retryFaults });
    t.same([report.verdict, failed, warned], ['conforming', [], []]);
    const passed = report.requirements.filter(({ verdict }) => verdict === 'pass');
    const ids = passed.map(({ id }) => id);
    for (const id of ['CLIENT-030', 'CLIENT-031', 'CLIENT-032', 'CLIENT-033', 'CLIENT-034']) {
      t.ok(ids.includes(id), `${id} passes, because the exporter sent the spans again`);
    }
    t.match(report.notices, [
      /^The client never read simulation results and never read production results\.$/,
    ]);
    t.same(findViolations('CheckReport', report), []);
  });
}

void t.test(
  'a client that uses plain fetch conforms, and exercises every requirement',
  async (t) => {
    const client = (target: Target): Promise<void> =>
      runReferenceClient({ ...target, clock: systemClock });
    const { report, failed, warned } = await judgeRun(t, client, { faults: retryFaults, seed });
    t.same([report.verdict, report.exitCode, failed, warned], ['conforming', 0, [], []]);
    const open = report.requirements.filter(({ verdict }) => verdict === 'not_observed');
    // A correct client never gets such a refusal.
    t.same(
      open.map(({ id }) => id),
      ['CLIENT-035'],
    );
    t.equal(report.notices, undefined, 'every route is exercised, and retries are observed');
  },
);

void t.test('a client that sends no request is not judged', async (t) => {
  const { report } = await judgeRun(t, () => Promise.resolve());
  t.match(report, { verdict: 'not-judged', exitCode: 3, blockedBy: { id: 'no_requests' } });
  t.match(report.blockedBy?.message, /^The client sent no request to the service at http/);
  const onlyMetrics = await judgeRun(t, (target) => send(target, 'POST', '/v1/metrics', {}));
  t.equal(onlyMetrics.report.exitCode, 3, 'metrics are not a request to the interface');
});

interface FaultyClient {
  run: (target: Target, t: Test) => Promise<unknown>;
  fails?: string[];
  warns?: string[];
  setup?: ClientSetup;
}

const faultyClients: Readonly<Record<string, FaultyClient>> = {
  'an exporter without the key': {
    run: (target, t) => exportTurn(t, { ...target, apiKey: '' }).catch(() => undefined),
    fails: ['CLIENT-001'],
  },
  'an exporter whose endpoint has /v1 twice': {
    run: (target, t) =>
      exportTurn(t, { ...target, url: `${target.url}/v1` }).catch(() => undefined),
    fails: ['CLIENT-003'],
  },
  'an exporter of spans without a conversation id': {
    run: (target, t) => {
      const { 'gen_ai.conversation.id': id, ...attributes } = turn;
      return exportTurn(t, target, { attributes }).catch(() => undefined);
    },
    fails: ['CLIENT-014'],
  },
  'an exporter of messages as a list of strings': {
    run: (target, t) =>
      exportTurn(t, target, { attributes: { ...turn, 'gen_ai.input.messages': ['Hello'] } }),
    fails: ['CLIENT-021'],
  },
  'ids in base64': {
    run: (target) =>
      sendSpans(target, makeSpan({ traceId: 'W47/8JHNTf6jdTe2TYhhAA==', spanId: 'AAsAXuT3WNk=' })),
    fails: ['CLIENT-019'],
  },
  'times in milliseconds': {
    run: (target) =>
      sendSpans(target, {
        ...makeSpan(),
        startTimeUnixNano: '1795167000000',
        endTimeUnixNano: '1795167001000',
      }),
    fails: ['CLIENT-020'],
  },
  'a retry that ignores Retry-After': {
    run: async (target) => {
      const span = makeSpan();
      while ((await sendSpans(target, span)).status === 429);
    },
    setup: { faults: [{ kind: 'rate_limit', retry_after_s: 2, times: 2 }] },
    fails: ['CLIENT-030'],
  },
  'spans that are dropped after a 429': {
    run: (target) => sendSpans(target, makeSpan()),
    setup: { faults: [{ kind: 'rate_limit', times: 1 }] },
    warns: ['CLIENT-031'],
  },
  'a retry with new span ids': {
    run: async (target) => {
      const span = makeSpan();
      await sendSpans(target, span);
      await sendSpans(target, { ...span, spanId: makeHexId(16) });
    },
    setup: { faults: [{ kind: 'unavailable', retry_after_s: 0, times: 1 }] },
    warns: ['CLIENT-034'],
  },
  'an end call before the spans are flushed': {
    run: async (target) => {
      await end(target);
      await sendSpans(target, makeSpan());
    },
    warns: ['CLIENT-042'],
  },
  'an end call while the export is in flight': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      // Its body is complete only after the end call.
      const late = openExport(target, makeSpan());
      await late.arrived;
      await end(target);
      await late.finish();
    },
    warns: ['CLIENT-042'],
  },
  'an export that the process does not finish': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      const cut = openExport(target, makeSpan());
      await cut.arrived;
      await cut.abort();
      // The service has noticed it when it has handled another request.
      await read(target, '/api/prod-evaluations/sessions/?limit=1');
    },
    fails: ['CLIENT-012'],
  },
  'a tool call whose turn never comes': {
    run: (target) =>
      sendSpans(
        target,
        makeSpan({ operation: 'execute_tool', attributes: { 'gen_ai.tool.name': 'find' } }),
      ),
    warns: ['CLIENT-044'],
  },
  'spans of which some have no conversation id': {
    run: (target) => sendSpans(target, makeSpan(), makeSpan({ conversationId: null })),
    fails: ['CLIENT-025'],
  },
  'text in gen_ai.prompt': {
    run: (target) => {
      const { attributes, ...span } = makeSpan() as { attributes: { key: string }[] };
      const others = attributes.filter(({ key }) => !key.endsWith('.messages'));
      const text = { key: 'gen_ai.prompt', value: { stringValue: 'Where is my parcel?' } };
      return sendSpans(target, { ...span, attributes: [...others, text] });
    },
    fails: ['CLIENT-026'],
  },
  'an empty reply': {
    run: (target) => sendSpans(target, makeSpan({ agent: '' })),
    warns: ['CLIENT-027'],
  },
  'messages with an unknown operation': {
    run: (target) => sendSpans(target, makeSpan({ operation: 'completion' })),
    warns: ['CLIENT-028'],
  },
  'spans that end before they start': {
    run: (target) =>
      sendSpans(target, makeSpan({ startMs: 1_795_000_000_000, endMs: 1_794_999_999_000 })),
    fails: ['CLIENT-020'],
  },
  'times that are decades ahead': {
    run: (target) => sendSpans(target, makeSpan({ startMs: 4_102_444_800_000 })),
    fails: ['CLIENT-020'],
  },
  'another conversation id for each span': {
    run: (target) => {
      const parent = makeSpan({ operation: 'invoke_agent', conversationId: 'conv-a' });
      const ids = { traceId: String(parent['traceId']), parentSpanId: String(parent['spanId']) };
      return sendSpans(target, parent, makeSpan({ ...ids, conversationId: 'conv-b' }));
    },
    warns: ['CLIENT-029'],
  },
  'the key in the URL and in the header': {
    run: (target) => read(target, `/api/prod-evaluations/sessions/?api_key=${target.apiKey}`),
    fails: ['CLIENT-005'],
  },
  'an end call after a refused export': {
    run: async (target) => {
      await sendSpans(target, makeSpan({ conversationId: null }));
      await end(target);
    },
    fails: ['CLIENT-014'],
  },
  'an end call after spans that are ignored': {
    run: async (target) => {
      await sendSpans(target, makeSpan({ operation: null }));
      await end(target);
    },
    fails: ['CLIENT-017'],
  },
  'an end call with another id': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await end(target, 'conv-2');
    },
    fails: ['CLIENT-040'],
  },
  'an end call with a JSON body': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await send(target, 'POST', '/v1/sessions/conv-1/end', {});
    },
    fails: ['CLIENT-041'],
  },
  'a misspelled filter': {
    run: (target) => read(target, '/api/prod-evaluations/sessions/?startedAfter=2026-01-01'),
    fails: ['CLIENT-050'],
  },
  'a date in another format': {
    run: (target) => read(target, '/api/prod-evaluations/sessions/?started_after=1%2F2%2F2026'),
    fails: ['CLIENT-052'],
  },
};

for (const [name, { run, setup, fails = [], warns = [] }] of Object.entries(faultyClients)) {
  void t.test(`a faulty client: ${name}`, async (t) => {
    const { report, failed, warned } = await judgeRun(t, (target) => run(target, t), setup);
    t.same([failed, warned], [fails, warns]);
    t.equal(report.verdict, fails.length > 0 ? 'not-conforming' : 'conforming');
    for (const { expected, received, curl } of report.requirements.filter(isBroken)) {
      t.ok(expected && received, 'the finding says what was expected and received');
      t.equal(curl, undefined, 'there is no curl command for a request of the client');
    }
  });
}

const isBroken = ({ verdict }: { verdict: string }): boolean => /^(fail|warn)$/.test(verdict);

void t.test('a finding shows the sent value and the fix', async (t) => {
  const { report } = await judgeRun(t, faultyClients['an end call with another id']?.run as never);
  const row = rowOf(report, 'CLIENT-040');
  t.match(row, {
    received: '"conv-2", which no span has',
    hint: 'The client sent spans of "conv-1".',
    evidence: [{ exchange: 2, request: 'POST /v1/sessions/conv-2/end', outcome: '404' }],
  });
});

/** A run that breaks many requirements. */
let faultyRun: Promise<Transcript> | undefined;
const recordFaultyRun = (t: Test): Promise<Transcript> => (faultyRun ??= runFaultyClient(t));

async function runFaultyClient(t: Test): Promise<Transcript> {
  const client = async (target: Target): Promise<void> => {
    const span = makeSpan({ user: 'SECRET QUESTION', agent: 'SECRET ANSWER' });
    await sendSpans(target, span);
    await sendSpans(target, { ...span, spanId: 'AAsAXuT3WNk=', startTimeUnixNano: 17 });
    await send(target, 'POST', '/v1/traces', { resource_spans: 'SECRET TEXT' });
    await fetch(`${target.url}/v1/traces`, { method: 'POST', body: 'SECRET BODY' });
    await end(target);
    await read(target, '/api/prod-evaluations/sessions/?include_traces=true&limit=1000');
    await runReferenceClient({ ...target, clock: systemClock });
  };
  const { transcript } = await judgeRun(t, client, { faults: retryFaults, seed });
  return transcript;
}

void t.test('reports contain no text of a conversation, but a recording does', async (t) => {
  const transcript = await recordFaultyRun(t);
  const report = reportOf(transcript, transcript.run.startedAt);
  const layout = { style: plainStyle, width: 100, verbose: true };
  const pages = {
    json: JSON.stringify(report),
    html: htmlReport(report, transcript),
    junit: junitReport(report),
    markdown: markdownReport(report),
    terminal: terminalReport(report, layout),
  };
  for (const [name, text] of Object.entries(pages)) {
    t.notMatch(text, /SECRET|parcel|on its way/, name);
  }
  t.match(pages.html, /sandbox-kit exec --judge-client/);
  t.match(pages.html, /spans?: |chat span /);
  t.match(writeTranscript(transcript), /SECRET QUESTION/);
});

void t.test('a recording gives the same report as the run', async (t) => {
  const transcript = await recordFaultyRun(t);
  const again = readTranscript(writeTranscript(transcript));
  const { startedAt } = transcript.run;
  t.same(reportOf(again, startedAt), reportOf(transcript, startedAt));
});

/** Damages a record at random. */
function damage(record: ExchangeRecord, random: Random): ExchangeRecord {
  const { request, response, ...rest } = record;
  const body = request.body ?? '{}';
  const status = random.integer(200, 599);
  switch (random.integer(0, 5)) {
    case 0:
      return { ...rest, request: { ...request, body: damageJson(body, random) } };
    case 1:
      return { ...record, request: { ...request, body: randomJson(random), bodyBase64: '/x==' } };
    case 2:
      return {
        ...record,
        request: { ...request, headers: {}, path: `/%E0%A4%A?${randomJson(random)}` },
      };
    case 3:
      return {
        ...record,
        response: { status, headers: { 'retry-after': '1' }, body: randomJson(random) },
      };
    case 4:
      return { ...rest, request, failure: { kind: 'reset', message: 'gone' } };
    default:
      return {
        ...record,
        response: { status: 200, headers: {}, body: damageJson(response?.body ?? '', random) },
      };
  }
}

void t.test('no recording makes a check throw', async (t) => {
  const { run, exchanges } = await recordFaultyRun(t);
  const seed = randomSeed();
  const random = seededRandom(seed);
  for (let round = 0; round < atNight(200, 20); round += 1) {
    const records = exchanges.map(({ json, sent, ...record }) => damage(record, random));
    const judgment = judgeTranscript(clientSuite, { run, exchanges: records.map(toExchange) });
    const errors = [...judgment.requirements].filter(([, { verdict }]) => verdict === 'error');
    t.same(errors, [], `seed ${seed}, round ${round}`);
    const hasPass = judgment.counts.pass > 0;
    t.ok(judgment.exitCode !== 0 || hasPass, 'a run without judgments never exits 0');
  }
});
