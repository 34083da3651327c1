/**
 * The proof of the checks of a service, against three replicas behind a proxy that sends each request to
 * the next one: the unchanged service conforms, and each mutant fails exactly its requirements. As at a
 * push, most mutants change a recording, which here is one of the replicas. The checks wait for results for a
 * limited time, so nothing else may take the CPU from the replicas.
 */
import t from 'tap';
import { assertSelftest } from '../../support/conformance/selftest.ts';
import { withPostgres } from '../../support/database/postgres.ts';
import { withServicesAsOne } from '../../support/services/round-robin.ts';

void t.test('the checks detect every fault of replicas behind a proxy', async (t) => {
  const { url: databaseUrl } = await withPostgres(t, 'migrated');
  const { url, apiKey } = await withServicesAsOne(t, 3, { databaseUrl });
  await assertSelftest(t, {
    serviceUrl: url,
    serviceApiKey: apiKey,
    areas: ['service'],
    everyProbe: true,
    isQuick: true,
  });
});
