/** On a full disk, the service acknowledges nothing and responds with a retryable 503. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { nightOnly } from '../../support/nightly.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import {
  sendTo,
  startServiceProcess,
  type ServiceAddress,
} from '../../support/services/service-process.ts';
import { withStartedService } from '../../support/services/started-service.ts';
import { makeTraceRequest, makeSpan } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

const SECRET = 'my-secret-word';

/** Returns a trace request of about 200 kB. */
const makeLargeRequest = (nth: number) =>
  makeTraceRequest([makeSpan({ conversationId: `c-${nth}`, user: SECRET.repeat(15_000) })]);

/** Sends until the disk is full, and returns the acknowledged conversation ids. */
async function sendUntilFull(t: Test, service: ServiceAddress): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let nth = 0; nth < 100; nth += 1) {
    const response = await sendTo(service, 'POST /v1/traces', makeLargeRequest(nth));
    if (response.status === 200) acknowledged.push(`c-${nth}`);
    else {
      t.match(response, { status: 503, retryAfter: /^[1-9]\d*$/, text: /^\{"message":/ });
      return acknowledged;
    }
  }
  t.fail('the disk did not become full');
  return acknowledged;
}

/** Fills the space that was too small for a large request, with small writes until one fails. */
async function fillRemainingSpace(t: Test, service: ServiceAddress): Promise<void> {
  for (let nth = 0; nth < 500; nth += 1) {
    const { status } = await sendTo(service, 'PUT /__admin/settings', { run_name: `run ${nth}` });
    if (status !== 200) return;
  }
  t.fail('the disk did not become full');
}

async function assertOtherWritesRejected(
  t: Test,
  service: ServiceAddress,
  id: string,
): Promise<void> {
  const definition = { id: 'x', name: 'x'.repeat(200), kind: 'contains', params: { text: SECRET } };
  for (const [route, body] of [
    [`POST /v1/sessions/${id}/end`],
    ['POST /__admin/evals', definition],
    ['PUT /__admin/settings', { run_name: 'x'.repeat(200) }],
  ] as const) {
    const response = await sendTo(service, route, body);
    t.match(response, { status: 503, retryAfter: /^[1-9]\d*$/ }, route);
  }
  t.equal(
    (await sendTo(service, 'POST /v1/traces', 7)).status,
    400,
    'an invalid request still gets 400',
  );
  t.match(
    await sendTo(service, 'GET /ready'),
    { status: 503, text: /can't write to its disk \(SQLITE_.*Free space/ },
    'the service is not ready',
  );
  t.equal(
    (await sendTo(service, 'GET /api/prod-evaluations/sessions/')).status,
    200,
    'reads still work',
  );
}

/** Mounts a disk of 3 MiB if this user is allowed to. */
function mountSmallDisk(): { folder: string; isMounted: boolean; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'kit-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', folder]);
  const isMounted = status === 0;
  const remove = (): void => {
    if (isMounted) spawnSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  };
  return { folder, isMounted, remove };
}

const disk = mountSmallDisk();
t.teardown(() => disk.remove());
const skip = !disk.isMounted && 'this user is not allowed to mount a disk';

void t.test(
  'on a full disk, requests get 503 and all acknowledged spans are stored',
  { skip },
  async (t) => {
    const { folder } = disk;
    const { log, lines } = createLineLog();
    const filler = join(folder, 'filler');
    writeFileSync(filler, Buffer.alloc(1_000_000));
    const dataDir = join(folder, 'data');
    const service = await withStartedService(t, { dataDir, log });
    const acknowledged = await sendUntilFull(t, service);
    t.ok(acknowledged.length > 0);
    const [first = ''] = acknowledged;
    await fillRemainingSpace(t, service);
    await assertOtherWritesRejected(t, service, first);
    t.match(lines.join('\n'), /"code":"SQLITE_FULL"/);
    t.notMatch(lines.join('\n'), SECRET);

    rmSync(filler);
    await until('the service is ready again', async () => {
      return (await sendTo(service, 'GET /ready')).status === 200;
    });
    t.equal(
      (await sendTo(service, 'POST /v1/traces', makeLargeRequest(999))).status,
      200,
      'requests succeed once there is space',
    );
    for (const id of [...acknowledged, 'c-999']) {
      t.equal((await sendTo(service, `POST /v1/sessions/${id}/end`)).status, 200, id);
    }
  },
);

// At a push, one of the two tests is enough, and this one starts processes.
const failing = disk.isMounted ? nightOnly() : {};

void t.test(
  'when the disk fails, requests get 503 and the log has the reason',
  failing,
  async (t) => {
    const data = join(t.testdir({}), 'data');
    const args = ['--data', data];
    const service = await startServiceProcess(t, args, { fileBytesMax: 1_500_000 });
    const acknowledged = await sendUntilFull(t, service);
    t.ok(acknowledged.length > 0);
    await fillRemainingSpace(t, service);
    t.match(await sendTo(service, 'GET /ready'), { status: 503, text: /can't write to its disk/ });
    t.equal(await service.end('SIGTERM'), 0);
    t.match(await service.stderr, /"code":"SQLITE_(IOERR|FULL)/);
    t.notMatch(await service.stderr, SECRET);
    const restarted = await startServiceProcess(t, args);
    for (const id of acknowledged) {
      t.equal((await sendTo(restarted, `POST /v1/sessions/${id}/end`)).status, 200, id);
    }
  },
);
