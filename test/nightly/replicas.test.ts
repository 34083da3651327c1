/** The checks of a service against three replicas behind a proxy that sends each request to the next. */
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { run } from '../support/commands/command.ts';
import { withPostgres } from '../support/database/postgres.ts';
import { startReplica } from '../support/services/replicas.ts';
import { withRoundRobinProxy } from '../support/services/round-robin.ts';

const REPLICAS = 3;

async function startReplicas(t: Test): Promise<{ serviceUrl: string; serviceApiKey: string }> {
  const { url: databaseUrl } = await withPostgres(t, 'migrated');
  const urls: string[] = [];
  const serviceUrl = await withRoundRobinProxy(t, () => urls);
  let serviceApiKey = '';
  for (let nth = 0; nth < REPLICAS; nth += 1) {
    const { url, apiKey } = await startReplica(t, databaseUrl, {
      args: ['--app-url', serviceUrl],
    });
    urls.push(url);
    serviceApiKey = apiKey;
  }
  return { serviceUrl, serviceApiKey };
}

void t.test('replicas behind a proxy conform', async (t) => {
  const { serviceUrl, serviceApiKey } = await startReplicas(t);
  const startedAtMs = systemClock.monotonicMs();
  const { code, stdout, stderr } = await run(['check', serviceUrl, '--area', 'service'], {
    env: { SANDBOX_KIT_SERVICE_API_KEY: serviceApiKey },
  });
  t.equal(code, 0, stdout.slice(-3_000) + stderr);
  t.comment(`${((systemClock.monotonicMs() - startedAtMs) / 1_000).toFixed(1)} s`);
  t.comment(stdout.trim().split('\n').slice(-3).join('\n'));
});
