/** A check resets the service clock, or reports that it could not. */
import t from 'tap';
import { serviceSuite } from '../../conformance/areas/index.ts';
import { respondInstead } from '../../conformance/engine/mutants/combinators.ts';
import { check, dryRun, reportOf, serviceArea, terminalReport } from '../../conformance/index.ts';
import { replay } from '../../conformance/proof/replay.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { measureClock, recordServiceOnce } from '../support/conformance/recorded-runs.ts';
import { withStartedService } from '../support/services/started-service.ts';

const HOUR_MS = 3_600_000;

void t.test('the clock is reset after a run', async (t) => {
  const { transcript, aheadMs } = await recordServiceOnce();
  const { exitCode, notices } = reportOf(transcript, transcript.run.startedAt);
  t.equal(exitCode, 0);
  t.notOk(notices);
  t.ok(Math.abs(aheadMs) < HOUR_MS, `${aheadMs} ms ahead`);
});

void t.test('the clock is reset after an interrupted run', async (t) => {
  const service = await withStartedService(t);
  const stop = new AbortController();
  let isAdvanced = false;
  await check({
    target: service.url,
    apiKey: service.apiKey,
    kitVersion: 'test',
    seed: 'stopped',
    areas: serviceArea,
    intrusive: true,
    signal: stop.signal,
    onExchange({ step }) {
      if (step !== 'clock') return;
      isAdvanced = true;
      stop.abort();
    },
  });
  t.ok(isAdvanced, 'the clock was advanced');
  const aheadMs = await measureClock(service);
  t.ok(Math.abs(aheadMs) < HOUR_MS, `${aheadMs} ms ahead`);
});

void t.test('the dry run and the report warn about a clock that cannot be reset', async (t) => {
  const unknown = respondInstead(
    ({ method, path }) => method === 'PUT' && path === '/__admin/clock',
    () => ({ status: 404, headers: {}, body: '{}' }),
  );
  const distortion = { id: 'no reset', areas: serviceArea, transform: unknown };
  const unchanged = (await recordServiceOnce()).transcript;
  const { transcript } = await replay(distortion, serviceSuite, unchanged);
  if (!transcript) throw new Error('The recording has no request that resets the clock.');
  const report = reportOf(transcript, transcript.run.startedAt);
  t.equal(report.exitCode, 0);
  t.match(report.notices, [
    /^The run advanced the service clock by 25(\.\d)? hours and could not reset it/,
  ]);
  const format = { style: plainStyle, width: 80 };
  t.match(terminalReport(report, format), /advanced the service clock by\s+25[^]*\nCONFORMING/);
  const plan = dryRun({ areas: serviceArea, intrusive: true }, format).replaceAll(/\s+/g, ' ');
  t.match(plan, /the run advances its clock by about 25 hours and resets it at the end/);
  t.notMatch(dryRun({ areas: serviceArea }, format), /advances its clock/);
});
