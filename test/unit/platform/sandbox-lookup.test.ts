/** Host names that lead to addresses to which no request must be sent. */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import t, { type Test } from 'tap';
import { createHttpClient } from '../../../conformance/engine/drive/http-client.ts';
import { createOpenTransport } from '../../../load/engines/open.ts';
import { systemClock as clock } from '../../../src/platform/clock.ts';
import { lookupSandbox } from '../../../src/platform/sandbox-lookup.ts';
import { openHttp } from '../../../src/service/simulator/sandbox/sandbox-http.ts';
import { openSocket } from '../../../src/voice/call/open-socket.ts';

// Linux refuses to connect to this reserved address, so that a failing test reaches no one.
const RESERVED = '0.1.2.3';

/** Makes every host name lead to these addresses while a test runs. */
function resolveTo(t: Test, ...addresses: string[]): void {
  const { lookup } = dns;
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  Object.assign(dns, {
    lookup: (_name: string, _options: object, done: (error: null, all: object[]) => void) =>
      setImmediate(done, null, found),
  });
  syncBuiltinESMExports();
  t.teardown(() => {
    Object.assign(dns, { lookup });
    syncBuiltinESMExports();
  });
}

const lookUp = (all: boolean): Promise<unknown> =>
  new Promise((resolve) => {
    lookupSandbox('sandbox.test', { all }, (error, address, family) =>
      resolve(error ? error.message : all ? address : [address, family]),
    );
  });

void t.test('reserved addresses of a host name are left out', async (t) => {
  resolveTo(t, 'fe80::1', '169.254.169.254', '127.0.0.1', 'fd12::1');
  t.same(await lookUp(false), ['127.0.0.1', 4]);
  t.same(await lookUp(true), [
    { address: '127.0.0.1', family: 4 },
    { address: 'fd12::1', family: 6 },
  ]);
});

void t.test('a host name with only reserved addresses is not found', async (t) => {
  resolveTo(t, '169.254.169.254');
  const message = 'sandbox.test leads only to link-local, multicast, or metadata addresses';
  t.equal(await lookUp(false), message);
  t.equal(await lookUp(true), message);
});

void t.test('no request is sent to a host name with only reserved addresses', async (t) => {
  resolveTo(t, RESERVED);
  const target = 'http://sandbox.test:8080';
  const request = { method: 'GET', path: '/health', headers: {} } as const;

  const check = createHttpClient({ target, clock });
  t.teardown(() => check.close());
  t.match(await check.send(request, 10_000), {
    failure: { kind: 'unresolved', message: /only to link-local/ },
  });

  const load = createOpenTransport({ target, clock });
  t.teardown(() => load.close());
  const loaded = await new Promise((resolve) =>
    load.send(request, clock.monotonicMs() + 10_000, resolve),
  );
  t.match(loaded, { fault: { kind: 'unresolved' } });

  const simulation = openHttp({ url: target, connections: 1, clock });
  t.teardown(() => simulation.close());
  await t.rejects(simulation.send(request, 10_000, new AbortController().signal), {
    message: /leads to a link-local or metadata address/,
  });

  const listener = { onMessage: () => undefined, onClose: () => undefined };
  const url = 'ws://sandbox.test:8080/voice';
  const call = await openSocket(
    { url, headers: {}, ca: undefined, deadlineMs: 10_000 },
    clock,
    listener,
  );
  t.match(call.error, { code: 'ERR_RESERVED_ADDRESS' });
});

void t.test('simulated users do not call a reserved address, even if it is stored', async (t) => {
  const simulation = openHttp({ url: `http://${RESERVED}`, connections: 1, clock });
  t.teardown(() => simulation.close());
  const request = { method: 'GET', path: '/health', headers: {} } as const;
  await t.rejects(simulation.send(request, 10_000, new AbortController().signal), {
    message: /must not be a link-local/,
  });
  const listener = { onMessage: () => undefined, onClose: () => undefined };
  const url = `ws://${RESERVED}/voice`;
  const socket = { url, headers: {}, ca: undefined, deadlineMs: 10_000 };
  t.match((await openSocket(socket, clock, listener)).error, /must not be a link-local/);
});
