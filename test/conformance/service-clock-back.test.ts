/** A check of the service leaves its clock as it found it, or says that it could not. */
import t from 'tap';
import { check, dryRun, serviceArea, terminalReport } from '../../conformance/index.ts';
import { startProxy } from '../../conformance/proof/proxy.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { withCheckedService } from '../helpers/checked-service.ts';

t.setTimeout(120_000);

const HOUR_MS = 3_600_000;

void t.test(
  'the clock is put back, after run and run, and after one that is broken off',
  async (t) => {
    const { url, adminUrl, apiKey } = await withCheckedService(t);
    const aheadMs = async (): Promise<number> => {
      const answer = await fetch(`${adminUrl}/clock`);
      return ((await answer.json()) as { now_ms: number }).now_ms - Date.now();
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
    t.ok(Math.abs(await aheadMs()) < HOUR_MS, `${await aheadMs()} ms ahead`);

    const stop = new AbortController();
    let isMoved = false;
    await check({
      ...{ ...options, seed: 'second', signal: stop.signal },
      onExchange({ step }) {
        if (step !== 'clock') return;
        isMoved = true;
        stop.abort();
      },
    });
    t.ok(isMoved, 'it was moved');
    t.ok(Math.abs(await aheadMs()) < HOUR_MS, `${await aheadMs()} ms ahead`);
  },
);

void t.test('where it can only be moved on, that is said beforehand and at the end', async (t) => {
  const { url, apiKey } = await withCheckedService(t);
  const proxy = await startProxy({
    upstream: url,
    clock: systemClock,
    transform: (asked, forward) =>
      asked.method === 'PUT' && asked.path === '/__admin/clock'
        ? Promise.resolve({ status: 404, headers: {}, body: '{}' })
        : forward(asked),
  });
  t.teardown(() => proxy.stop());
  const { report } = await check({
    ...{ target: proxy.url, apiKey, kitVersion: 'test', seed: 'stays' },
    ...{ areas: serviceArea, intrusive: true },
  });
  t.equal(report.exitCode, 0);
  t.match(report.notices, [
    /^The clock of the service was moved on by 24(\.\d)? hours, and could not/,
  ]);
  const paper = { style: plainStyle, width: 80 };
  t.match(terminalReport(report, paper), /moved on by 24[^]*\nCONFORMING/);
  const plan = dryRun({ areas: serviceArea, intrusive: true }, paper).replaceAll(/\s+/g, ' ');
  t.match(plan, /its clock is moved on by a day and some minutes, and put back at the end/);
  t.notMatch(dryRun({ areas: serviceArea }, paper), /clock is moved/);
});
