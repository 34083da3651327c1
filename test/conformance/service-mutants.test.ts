/**
 * The self-test of the service area: every mutant fails exactly its requirements, every legal variant
 * fails none, and every dead peer gets its one cause. At a push, most mutants and variants are applied to
 * a recording of the unchanged service, and some of the others run; at night, all of them run, with
 * all probes.
 */
import t from 'tap';
import { serviceMutants, serviceVariants } from '../../conformance/areas/mutants.ts';
import { serviceRequirementIds } from '../../conformance/areas/index.ts';
import { assertKilled, assertSelftest } from '../support/conformance/selftest.ts';
import { isNightly } from '../support/nightly.ts';
import { withStartedService } from '../support/services/started-service.ts';

void t.test('a mutant kills every requirement that can fail', (t) => {
  assertKilled(t, serviceMutants, serviceRequirementIds);
  t.ok(serviceMutants.length >= 40, `${serviceMutants.length} mutants`);
  t.ok(serviceVariants.length >= 10, `${serviceVariants.length} variants`);
  t.end();
});

void t.test('the self-test passes against the reference service', async (t) => {
  const service = await withStartedService(t);
  await assertSelftest(t, {
    serviceUrl: service.url,
    serviceApiKey: service.apiKey,
    areas: ['service'],
    everyProbe: isNightly,
  });
});
