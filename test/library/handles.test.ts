/** The methods of a running agent and a running service do what `/__admin` does. */
import t from 'tap';
import { manualClock, startAgent, startService, type AgentFault } from '../../library/index.ts';
import { makeChatRequest } from '../support/sandboxes/reference-agent.ts';
import { makeContainsEval } from '../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../support/traces/otlp.ts';

const chat = (url: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(makeChatRequest('Hello')),
  });

void t.test('agent: a mutant breaks one requirement', async (t) => {
  const agent = await startAgent({ mutant: 'chat/content-null' });
  t.teardown(() => agent.stop());
  const { choices } = (await (await chat(agent.url)).json()) as {
    choices: { message: { content: unknown } }[];
  };
  t.equal(choices[0]?.message.content, null);
  t.equal(agent.requests().length, 1, 'the controls are those of the agent behind it');
  await t.rejects(startAgent({ mutant: 'chat/content-nul' }), {
    name: 'TypeError',
    message: 'startAgent: Unknown mutant "chat/content-nul". Did you mean chat/content-null?',
  });
  await t.rejects(startAgent({ mutant: 'chat/content-null', port: 1234 }), {
    message: /^startAgent: mutant and port can't be combined: a mutant listens on a free port/,
  });
});

void t.test('agent: faults are set, listed, and cleared, and wrong ones refused', async (t) => {
  const agent = await startAgent({ faults: [{ kind: 'degraded' }] });
  t.teardown(() => agent.stop());
  agent.setFaults([{ kind: 'rate_limit', retry_after_s: 7, times: 1 }]);
  const limited = await chat(agent.url);
  t.equal(limited.status, 429);
  t.equal(limited.headers.get('retry-after'), '7');
  t.equal((await chat(agent.url)).status, 200, 'once');
  t.match(agent.faults(), [
    { source: 'admin', injected: 1, active: false },
    { source: 'options', fault: { kind: 'degraded' } },
  ]);
  t.same(await (await fetch(`${agent.url}/__admin/faults`)).json(), { faults: agent.faults() });
  agent.addFault({ kind: 'server_error', route: 'chat' });
  t.equal((await chat(agent.url)).status, 500);
  agent.clearFaults();
  t.equal((await chat(agent.url)).status, 200);
  t.match(agent.faults(), [{ source: 'options' }], 'faults of the options are kept');
  t.throws(() => agent.setFaults([{ kind: 'rate_limit', times: 0 }]), {
    name: 'TypeError',
    message: /^setFaults: faults\[0\]\.times must be /,
  });
  const wrongFaults: [fault: unknown, message: RegExp][] = [
    ['x', /^addFault: fault must be an object, got "x"\.$/],
    [undefined, /^addFault: fault must be an object, got nothing\.$/],
    [
      { kind: 'latncy' },
      /^addFault: fault\.kind must be one of .*, got "latncy"\. Did you mean latency\?$/,
    ],
    [
      { kind: 'rate_limit', rout: 'chat' },
      /^addFault: Unknown key fault\.rout\. Did you mean route\?$/,
    ],
    [{ kind: 'latency' }, /^addFault: fault\.latency must have a min_ms not greater than max_ms/],
    [
      { kind: 'jitter', latency: { min_ms: 1, max_ms: 2 }, route: 'chat' },
      /^addFault: fault: jitter/,
    ],
  ];
  for (const [fault, message] of wrongFaults) {
    t.throws(() => agent.addFault(fault as AgentFault), { name: 'TypeError', message });
  }
  t.throws(() => agent.setFaults([{ kind: 'slow' } as unknown as AgentFault]), TypeError);
  for (const value of [{ kind: 'latency' }, 'latency', null]) {
    t.throws(() => agent.setFaults(value as unknown as AgentFault[]), {
      name: 'TypeError',
      message: /^setFaults: faults must be an array, got /,
    });
  }
  const many = Array.from({ length: 100 }, (): AgentFault => ({ kind: 'unhealthy' }));
  agent.setFaults(many);
  t.throws(() => agent.addFault({ kind: 'unhealthy' }), {
    name: 'TypeError',
    message: /^addFault: At most 100 faults can be set\.$/,
  });
});

void t.test('agent: requests are listed and cleared, and a reset removes faults', async (t) => {
  const agent = await startAgent({ journalBodies: true });
  t.teardown(() => agent.stop());
  await (await chat(agent.url)).text();
  await (await fetch(`${agent.url}/health?full=1`)).text();
  t.match(agent.requests(), [
    { method: 'POST', path: '/v1/chat/completions', status: 200, request_body: /Hello/ },
    { method: 'GET', path: '/health', status: 200 },
  ]);
  const admin = (await (await fetch(`${agent.url}/__admin/requests`)).json()) as object;
  t.same(admin, { total: 2, requests: agent.requests() });
  agent.clearRequests();
  t.same(agent.requests(), []);
  t.same(agent.calls(), { open: 0, calls: [] });
  agent.setFaults([{ kind: 'unhealthy' }]);
  agent.reset();
  t.same(agent.faults(), []);
});

void t.test(
  'methods without parameters reject an argument, unless a test runner passes it',
  async (t) => {
    const [agent, service] = await Promise.all([startAgent(), startService()]);
    t.teardown(() => Promise.all([agent.stop(), service.stop()]));
    const call = (handle: object, name: string, argument: unknown): unknown =>
      (handle as Record<string, (argument: unknown) => unknown>)[name]?.(argument);
    for (const name of ['reset', 'clearFaults', 'clearRequests', 'faults', 'requests', 'calls']) {
      t.throws(() => call(agent, name, 'x'), {
        name: 'TypeError',
        message: `${name}: Expected no argument, got "x".`,
      });
    }
    for (const argument of [undefined, { name: 'a test' }, () => undefined]) {
      call(agent, 'reset', argument);
    }
    t.throws(() => call(service, 'clearFaults', 5), {
      name: 'TypeError',
      message: 'clearFaults: Expected no argument, got 5.',
    });
    for (const name of ['drain', 'sessions', 'ingestLog']) {
      await t.rejects(call(service, name, 'x') as Promise<unknown>, {
        name: 'TypeError',
        message: `${name}: Expected no argument, got "x".`,
      });
    }
  },
);

void t.test('service: sends, drains, and lists sessions with their verdicts', async (t) => {
  const clock = manualClock(Date.UTC(2026, 10, 20, 10));
  const service = await startService({
    clock,
    seed: {
      evals: [makeContainsEval('refund', 'refund')],
      settings: { evals: ['refund'] },
    },
  });
  t.teardown(() => service.stop());
  const { env } = service;
  t.same(env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: service.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `x-service-api-key=${service.apiKey}`,
    SANDBOX_KIT_SERVICE_URL: service.url,
    SANDBOX_KIT_SERVICE_API_KEY: service.apiKey,
    SANDBOX_KIT_ADMIN_URL: service.adminUrl,
  });
  t.same(await service.sessions(), []);
  const response = await fetch(`${env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...Object.fromEntries([env.OTEL_EXPORTER_OTLP_HEADERS.split('=') as [string, string]]),
    },
    body: JSON.stringify(makeTraceRequest([makeSpan()])),
  });
  t.equal(response.status, 200);
  await response.text();
  t.match(service.requests(), [{ method: 'POST', path: '/v1/traces', status: 200 }]);
  service.clearRequests();
  t.same(service.requests(), []);

  await service.drain();
  t.same(await service.sessions(), [], 'the conversation is open');
  await service.advance(86_400_000 + 1);
  await service.drain();
  const sessions = await service.sessions();
  t.match(sessions, [{ kind: 'production', status: 'completed', outcomes: [{ eval: 'refund' }] }]);
  const admin = await (await fetch(`${service.adminUrl}/sessions`)).json();
  t.same(admin, { sessions });
  t.type(await service.ingestLog(), Array);
  for (const ms of [-1, 0.5, NaN, '1' as unknown as number]) {
    await t.rejects(service.advance(ms), {
      name: 'TypeError',
      message: /^advance: ms must be an integer from 0 to 3155760000000, got /,
    });
  }
  await service.reset('empty');
  t.same(await service.sessions(), []);
  await t.rejects(service.reset('emty' as 'seed'), {
    name: 'TypeError',
    message: 'reset: to must be one of seed, empty, got "emty". Did you mean empty?',
  });
  await t.rejects(service.reset(undefined as never), {
    message: 'reset: to must be one of seed, empty, got nothing.',
  });
});

void t.test('service: the clock ends with the year 9999', async (t) => {
  const service = await startService({ clock: manualClock(Date.UTC(9999, 11, 31)) });
  t.teardown(() => service.stop());
  await t.rejects(service.advance(2 * 86_400_000), {
    name: 'TypeError',
    message: /^advance: ms must not move the clock beyond 9999-12-31T/,
  });
});

void t.test('service: faults are set, listed, and cleared, and wrong ones refused', async (t) => {
  const service = await startService();
  t.teardown(() => service.stop());
  const read = (): Promise<Response> =>
    fetch(`${service.url}/api/prod-evaluations/sessions/`, {
      headers: { 'x-service-api-key': service.apiKey },
    });
  service.setFaults([{ kind: 'unavailable', times: 1 }]);
  t.equal((await read()).status, 503);
  t.equal((await read()).status, 200);
  t.match(service.faults(), [{ injected: 1, active: false }]);
  service.addFault({ kind: 'rate_limit', route: 'results' });
  t.equal((await read()).status, 429);
  service.clearFaults();
  t.equal((await read()).status, 200);
  t.throws(() => service.setFaults([{ kind: 'slow', delay_ms: -1 }]), {
    name: 'TypeError',
    message: /^setFaults: faults\[0\]\.delay_ms must be an integer .*, got -1\.$/,
  });
  t.throws(() => service.setFaults({ kind: 'slow' } as never), {
    name: 'TypeError',
    message: /^setFaults: faults must be an array, got /,
  });
  t.throws(() => service.addFault({} as never), {
    name: 'TypeError',
    message: /^addFault: fault\.kind must be one of .*, got nothing\.$/,
  });
  t.throws(() => service.addFault({ kind: 'slw' } as never), {
    message: /^addFault: fault\.kind must be .*, got "slw"\. Did you mean slow\?$/,
  });
});
