/** A check resets the service clock, or reports that it could not. */
import t from 'tap';
import { check, dryRun, serviceArea, terminalReport } from '../../conformance/index.ts';
import { startProxy } from '../../conformance/proof/proxy.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { withCheckedService } from '../helpers/checked-service.ts';

const HOUR_MS = 3_600_000;

void t.test('the clock is reset after a run and after an interrupted run', async (t) => {
  const { url, adminUrl, apiKey } = await withCheckedService(t);
  const offsetMs = async (): Promise<number> => {
    const response = await fetch(`${adminUrl}/clock`);
    return ((await response.json()) as { now_ms: number }).now_ms - Date.now();
  };
  const options = {
    target: url,
    apiKey,
    kitVersion: 'test',
    areas: serviceArea,
    intrusive: true,
  };
  const { report } = await check({ ...options, seed: 'first' });
  t.equal(report.exitCode, 0);
  t.notOk(report.notices);
  t.ok(Math.abs(await offsetMs()) < HOUR_MS, `${await offsetMs()} ms ahead`);

  const stop = new AbortController();
  let isAdvanced = false;
  await check({
    ...{ ...options, seed: 'second', signal: stop.signal },
    onExchange({ step }) {
      if (step !== 'clock') return;
      isAdvanced = true;
      stop.abort();
    },
  });
  t.ok(isAdvanced, 'the clock was advanced');
  t.ok(Math.abs(await offsetMs()) < HOUR_MS, `${await offsetMs()} ms ahead`);
});

void t.test('the dry run and the report warn about a clock that cannot be reset', async (t) => {
  const { url, apiKey } = await withCheckedService(t);
  const proxy = await startProxy({
    upstream: url,
    clock: systemClock,
    transform: (request, forward) =>
      request.method === 'PUT' && request.path === '/__admin/clock'
        ? Promise.resolve({ status: 404, headers: {}, body: '{}' })
        : forward(request),
  });
  t.teardown(() => proxy.stop());
  const { report } = await check({
    ...{ target: proxy.url, apiKey, kitVersion: 'test', seed: 'stays' },
    ...{ areas: serviceArea, intrusive: true },
  });
  t.equal(report.exitCode, 0);
  t.match(report.notices, [
    /^The run advanced the service clock by 24(\.\d)? hours and could not reset it/,
  ]);
  const format = { style: plainStyle, width: 80 };
  t.match(terminalReport(report, format), /advanced the service clock by\s+24[^]*\nCONFORMING/);
  const plan = dryRun({ areas: serviceArea, intrusive: true }, format).replaceAll(/\s+/g, ' ');
  t.match(plan, /the run advances its clock by a day and a few minutes and resets it at the end/);
  t.notMatch(dryRun({ areas: serviceArea }, format), /advances its clock/);
});
