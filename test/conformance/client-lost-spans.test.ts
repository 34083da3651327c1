/** Clients whose spans do not arrive, although they sent or should have sent them. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { SERVICE_API_KEY_HEADER } from '../../src/contract/index.ts';
import { end, read, sendSpans } from '../support/conformance/client-requests.ts';
import { judgeRun, type ClientSetup, type Target } from '../support/conformance/judged-client.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { makeHexId, makeSpan, makeTraceRequest } from '../support/traces/otlp.ts';

const jsonBody = (span = makeSpan()): string => JSON.stringify(makeTraceRequest([span]));

/** Sends the headers of a trace request, and returns when the service has read them. */
async function openUpload(
  { url, apiKey }: Target,
  length: Record<string, string>,
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const headers = {
    host: hostname,
    'content-type': 'application/json',
    [SERVICE_API_KEY_HEADER]: apiKey,
    expect: '100-continue',
    ...length,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  socket.write(`POST /v1/traces HTTP/1.1\r\n${lines.join('')}\r\n`);
  // Then it asks for the body.
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}

/** Sends the headers of a trace request and a part of its body, and closes the connection. */
async function sendCut(
  target: Target,
  length: Record<string, string>,
  part: string,
): Promise<void> {
  const socket = await openUpload(target, length);
  // The service has read the part when the socket closes.
  await new Promise((resolve) => socket.end(part, () => socket.once('close', resolve).resume()));
}

const cutBodies = {
  'a Content-Length that is too large': {
    run: (target: Target, body: string) =>
      sendCut(target, { 'content-length': String(body.length + 17) }, body),
    expected: (length: number) => `the ${length + 17} bytes that Content-Length announces`,
    received: (length: number) => `${length} bytes, and then the client closed the connection`,
    hint: /^The service stores nothing.* Check that Content-Length is the number of bytes/,
  },
  'a chunked body without an end': {
    run: (target: Target, body: string) =>
      sendCut(
        target,
        { 'transfer-encoding': 'chunked' },
        `${body.length.toString(16)}\r\n${body}\r\n`,
      ),
    expected: () => 'a chunked body that ends with a chunk of length 0',
    received: (length: number) =>
      `no such chunk after ${length} bytes: the client closed the connection`,
    hint: /Close the stream of the body/,
  },
} as const;

for (const [name, { run, expected, received, hint }] of Object.entries(cutBodies)) {
  void t.test(`an upload that is cut: ${name}`, async (t) => {
    const body = jsonBody();
    const { report, failed, warned } = await judgeRun(t, async (target) => {
      await run(target, body);
      t.equal((await end(target)).status, 404, 'the service stored nothing');
    });
    t.same([report.verdict, failed, warned], ['not-conforming', ['CLIENT-012'], []]);
    const format = (count: number): string => count.toLocaleString('en-US');
    t.match(rowOf(report, 'CLIENT-012'), {
      expected: expected(body.length).replace(/\d{4,}/, (digits) => format(Number(digits))),
      received: received(body.length).replace(/\d{4,}/, (digits) => format(Number(digits))),
      hint,
    });
    t.notMatch(JSON.stringify(report), /never sent traces|too large/);
  });

  void t.test(`an upload that is cut uses up no injected fault: ${name}`, async (t) => {
    const faults: ClientSetup['faults'] = [{ kind: 'rate_limit', retry_after_s: 0, times: 1 }];
    const { failed } = await judgeRun(t, (target) => run(target, jsonBody()), { faults });
    t.same(failed, ['CLIENT-012']);
  });

  void t.test(`an upload that is cut and sent again is legal: ${name}`, async (t) => {
    const span = makeSpan();
    const { failed, warned } = await judgeRun(t, async (target) => {
      await run(target, jsonBody(span));
      // The exporter adds a span to the batch, so only the ids show that it is sent again.
      await sendSpans(target, makeSpan(), span);
      await end(target);
    });
    t.same([failed, warned], [[], []]);
  });
}

void t.test('an upload that has not ended when the run ends is cut', async (t) => {
  const { report, failed } = await judgeRun(t, async (target) => {
    const socket = await openUpload(target, { 'content-length': '900' });
    t.teardown(() => socket.destroy());
    await new Promise((resolve) => socket.write('{"resourceSpans":', resolve));
  });
  t.same(failed, ['CLIENT-012']);
  t.match(rowOf(report, 'CLIENT-012'), {
    received: '17 bytes when the run ended',
    hint: /wait for the result before the process exits/,
  });
});

void t.test('a body that is refused before it arrives is not called too large', async (t) => {
  const { report } = await judgeRun(
    t,
    ({ url }) =>
      new Promise((resolve) => {
        const sent = request(`${url}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-length': '900' },
        });
        sent.once('response', (response) => {
          response.resume().once('end', () => sent.destroy());
        });
        sent.once('close', resolve).once('error', resolve).flushHeaders();
      }),
  );
  t.match(report.notices?.at(-1), /were too large, or were refused before they arrived/);
  t.notMatch(rowOf(report, 'CLIENT-012')?.reason, /never sent traces/);
});

interface LosingClient {
  run: (target: Target) => Promise<unknown>;
  setup: ClientSetup;
  fails?: string[];
  warns?: string[];
  received?: string;
}

const rateLimit: ClientSetup = { faults: [{ kind: 'rate_limit', retry_after_s: 0, times: 1 }] };
const unavailable: ClientSetup = { faults: [{ kind: 'unavailable', retry_after_s: 0, times: 1 }] };

/** Sends a span twice, and ends its conversation. */
async function retryOnce(target: Target): Promise<void> {
  const span = makeSpan();
  await sendSpans(target, span);
  await sendSpans(target, span);
  await end(target);
}

const losingClients: Readonly<Record<string, LosingClient>> = {
  'no retry, and the conversation ends': {
    run: async (target) => {
      await sendSpans(target, makeSpan(), makeSpan());
      await end(target);
    },
    setup: rateLimit,
    warns: ['CLIENT-031', 'CLIENT-045'],
    received: '2 spans were lost: no further attempt after the 429',
  },
  'a retry without one of the spans': {
    run: async (target) => {
      const span = makeSpan();
      await sendSpans(target, span, makeSpan({ user: 'And the other one?' }));
      await sendSpans(target, span);
      await end(target);
    },
    setup: unavailable,
    warns: ['CLIENT-045'],
    received: '1 span was lost: the next attempt (exchange 2, 200) did not contain all spans',
  },
  'one retry, and the conversation ends': {
    run: retryOnce,
    setup: { faults: [{ kind: 'unavailable', retry_after_s: 0, times: 2 }] },
    warns: ['CLIENT-032', 'CLIENT-045'],
    received: '1 span was lost: no further attempt after the 503',
  },
  'a retry without the key': {
    run: async (target) => {
      const span = makeSpan();
      await sendSpans(target, span);
      await sendSpans({ ...target, apiKey: '' }, span);
      await end(target);
    },
    setup: unavailable,
    fails: ['CLIENT-001'],
  },
  'no retry, and the conversation does not end': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await read(target, '/api/prod-evaluations/sessions/?limit=1');
    },
    setup: unavailable,
    warns: ['CLIENT-032'],
  },
  'each span again, in separate requests': {
    run: async (target) => {
      const spans = [makeSpan(), makeSpan()];
      await sendSpans(target, ...spans);
      for (const span of spans) await sendSpans(target, span);
      await end(target);
    },
    setup: unavailable,
  },
  'the spans again with new ids': {
    run: async (target) => {
      const span = makeSpan();
      await sendSpans(target, span);
      await sendSpans(target, { ...span, spanId: makeHexId(16) });
      await end(target);
    },
    setup: unavailable,
    warns: ['CLIENT-034'],
  },
  'the end call again before Retry-After has passed': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await end(target);
      await end(target);
    },
    setup: { faults: [{ kind: 'unavailable', route: 'end', retry_after_s: 1, times: 1 }] },
  },
};

for (const [name, client] of Object.entries(losingClients)) {
  const { run, setup, fails = [], warns = [], received } = client;
  void t.test(`spans that were refused: ${name}`, async (t) => {
    const { report, failed, warned } = await judgeRun(t, run, setup);
    t.same([failed, warned], [fails, warns]);
    if (received !== undefined) t.equal(rowOf(report, 'CLIENT-045')?.received, received);
  });
}

void t.test('an end call that fails because spans were lost says so', async (t) => {
  const { report } = await judgeRun(t, async (target) => {
    await sendSpans(target, makeSpan({ operation: 'execute_tool' }));
    await end(target);
    await end(target, 'conv-2');
  });
  t.match(rowOf(report, 'CLIENT-040'), {
    verdict: 'fail',
    received: 'spans were lost: none of "conv-2" was sent before its end call',
    hint: /CLIENT-044, exchange 1.*Flush it, and wait for its result/,
  });
  t.match(rowOf(report, 'CLIENT-044')?.received, /^spans were lost: only tool calls arrived/);
});

void t.test('the retry that came too early is shown, not the refusal', async (t) => {
  const { report } = await judgeRun(t, retryOnce, {
    faults: [{ kind: 'unavailable', retry_after_s: 9, times: 1 }],
  });
  t.match(rowOf(report, 'CLIENT-033'), {
    verdict: 'warn',
    evidence: [{ exchange: 2, request: 'POST /v1/traces', outcome: '200' }],
  });
});

const earlyEnds = {
  'before the spans are sent': {
    run: async (target: Target) => {
      await end(target);
      await sendSpans(target, makeSpan(), makeSpan());
    },
    received:
      /^ended before its first span was sent: 2 new spans came [\d.]+ ms after the end call, which got 404 \(exchange 2\)$/,
    hint: /^Flush the exporter, wait for its result, .* A 404 ended nothing/,
    outcome: '404',
  },
  'before the last span is sent': {
    run: async (target: Target) => {
      await sendSpans(target, makeSpan());
      await end(target);
      await sendSpans(target, makeSpan());
    },
    received:
      /^ended before its last span was sent: 1 new span came [\d.]+ ms after .*, which got 200/,
    hint: /^Flush the exporter, wait for its result, and then end the conversation\.$/,
    outcome: '200',
  },
  'after each turn': {
    run: async (target: Target) => {
      for (let turn = 0; turn < 3; turn += 1) {
        await sendSpans(target, makeSpan());
        await end(target);
      }
    },
    received:
      /^ended 3 times, with turns in between: 2 new spans came [\d.]+ ms after this end call$/,
    hint: /^End a conversation once, after its last turn/,
    outcome: '200',
  },
};

for (const [name, { run, received, hint, outcome }] of Object.entries(earlyEnds)) {
  void t.test(`a finding says when a conversation ended: ${name}`, async (t) => {
    const { report } = await judgeRun(t, run);
    t.match(rowOf(report, 'CLIENT-042'), { verdict: 'warn', received, hint });
    t.match(rowOf(report, 'CLIENT-042')?.evidence[0], {
      request: 'POST /v1/sessions/conv-1/end',
      outcome,
    });
  });
}
