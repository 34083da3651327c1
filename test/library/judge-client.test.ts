/** `service.judgeClient()`: judges the requests of a test to the service. */
import t from 'tap';
import { startService } from '../../library/index.ts';
import { idsWith } from '../support/conformance/verdicts.ts';
import { makeSpan, makeTraceRequest } from '../support/traces/otlp.ts';

void t.test('judgeClient judges all requests of the client so far', async (t) => {
  const service = await startService();
  t.teardown(() => service.stop());
  const silent = await service.judgeClient();
  t.match(silent, { verdict: 'not-judged', exitCode: 3, blockedBy: { id: 'no_requests' } });

  const headers = { 'x-service-api-key': service.apiKey, 'content-type': 'application/json' };
  const body = JSON.stringify(makeTraceRequest([makeSpan()]));
  await fetch(`${service.url}/v1/traces`, { method: 'POST', headers, body });
  t.match(await service.judgeClient(), { verdict: 'conforming', exitCode: 0 });

  await fetch(`${service.url}/v1/sessions/conv-1/end`, { method: 'POST', headers, body: '{}' });
  const report = await service.judgeClient();
  t.same([report.verdict, idsWith(report, 'fail')], ['not-conforming', ['CLIENT-041']]);

  const knownFailures = [{ id: 'CLIENT-041', comment: 'until release 7' }];
  t.match(await service.judgeClient({ knownFailures }), { verdict: 'conforming', exitCode: 0 });
});

void t.test(
  'judgeClient rejects invalid options, and a service that does not record its callers',
  async (t) => {
    const service = await startService({ recordCallers: false });
    t.teardown(() => service.stop());
    await t.rejects(service.judgeClient({ strikt: true } as never), {
      name: 'TypeError',
      message: /^judgeClient: Unknown option "strikt"/,
    });
    await t.rejects(service.judgeClient(), { name: 'TypeError', message: /recordCallers: false/ });
  },
);
