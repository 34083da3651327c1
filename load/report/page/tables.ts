import type {
  FaultKind,
  LatencySummary,
  LoadReport,
  LoadTarget,
  LoadVerdict,
} from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { faultWords } from '../../record/fault-words.ts';
import { grouped, seconds, trimmed } from '../../verdict/amounts.ts';
import { amount, amountsOf } from '../terminal.ts';

const looks: Record<LoadVerdict, { className: string; icon: string }> = {
  PASS: { className: 'pass', icon: '✓' },
  FAIL: { className: 'fail', icon: '✗' },
  'NOT PROVEN': { className: 'unknown', icon: '?' },
  'INVALID RUN': { className: 'unknown', icon: '!' },
  'NOT TESTED': { className: 'untested', icon: '–' },
};

/** A verdict as colour, icon and word. */
export function badge(verdict: LoadVerdict, size: 'big' | 'small' = 'small'): Html {
  const { className, icon } = looks[verdict];
  return html`<span class="badge ${size} ${className}">${icon} ${verdict}</span>`;
}

/** A figure as narrow as a column likes it. */
const shortAmount = (value: number, unit: string): string =>
  amount(value, unit).replace(' requests/s', '/s').replace(' connections', '');

/** Every target with what was measured, how sure that is, and the verdict. */
export function targetsTable(targets: readonly LoadTarget[]): Html {
  return html`<table class="cards">
    <thead>
      <tr>
        <th>target</th>
        <th class="number">asked</th>
        <th class="number">measured</th>
        <th class="number">at 95 %</th>
        <th class="number">samples</th>
        <th>verdict</th>
      </tr>
    </thead>
    <tbody>
      ${targets.map(targetRow)}
    </tbody>
  </table>`;
}

function targetRow(target: LoadTarget): Html {
  const { statement, section, unit, measured, bound95, samples, verdict, reason } = target;
  const figure = (value: number | null): string => (value === null ? '' : shortAmount(value, unit));
  return html`<tr>
    <td>
      ${statement} <span class="soft">spec ${section}</span><br /><span class="soft"
        >${reason}</span
      >
    </td>
    <td class="number" data-label="asked">${figure(target.target)}</td>
    <td class="number" data-label="measured">${figure(measured)}</td>
    <td class="number" data-label="at 95 %">${figure(bound95)}</td>
    <td class="number" data-label="samples">${samples === 0 ? '' : grouped(samples)}</td>
    <td>${badge(verdict)}</td>
  </tr>`;
}

const columns = ['p50', 'p90', 'p99', 'p999', 'max', 'mean'] as const;
const columnWords = { p50: 'p50', p90: 'p90', p99: 'p99', p999: 'p99.9', max: 'max', mean: 'mean' };

/** The times of every stream. */
export function timesTable(report: LoadReport): Html {
  const rows = report.streams.flatMap((name) => {
    const stream = report[name];
    if (!stream) return [];
    return [
      html`<tr>
        <th colspan="7">${name}: ${amountsOf(name, stream)}</th>
      </tr>`,
      timesRow('response', stream.latencyMs),
      timesRow('service', stream.serviceMs),
      timesRow('first byte', stream.firstByteMs),
      timesRow('lag', stream.lagMs),
    ];
  });
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th></th>
          ${columns.map((column) => html`<th class="number">${columnWords[column]}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function timesRow(title: string, summary: LatencySummary): Html {
  const cells = columns.map((column) => {
    const value = summary[column];
    return html`<td class="number">${value === null ? '–' : seconds(value)}</td>`;
  });
  return html`<tr>
    <td class="name">${title}</td>
    ${cells}
  </tr>`;
}

/** What went wrong, by kind, with the first of each. */
export function errorsTable(report: LoadReport): Html {
  const counts = new Map<string, number>();
  for (const name of report.streams) {
    for (const [kind, times] of Object.entries(report[name]?.errors ?? {})) {
      counts.set(kind, (counts.get(kind) ?? 0) + times);
    }
  }
  const rows = [...counts].map(
    ([kind, times]) =>
      html`<tr>
        <td>
          <strong>${kind}</strong><br /><span class="soft">${faultWords[kind as FaultKind]}</span>
        </td>
        <td class="number">${grouped(times)}</td>
        <td class="why">${samplesOf(report, kind)}</td>
      </tr>`,
  );
  return html`<table>
    <thead>
      <tr>
        <th>error</th>
        <th class="number">times</th>
        <th>the first</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function samplesOf({ faultSamples }: LoadReport, kind: string): Html[] {
  return faultSamples
    .filter((sample) => sample.kind === kind)
    .map(({ stream, atMs, session, detail }) => {
      const where = session === undefined ? stream : `${stream}, ${session}`;
      return html`<div>${trimmed(atMs / 1000, 1)} s, ${where}: ${detail}</div>`;
    });
}

/** This run against an earlier one. */
export function comparisonTable({ rows }: NonNullable<LoadReport['comparison']>): Html {
  const styles = { better: 'pass', worse: 'fail', alike: 'untested', unknown: 'unknown' };
  const figure = (value: number | null, unit: string): string =>
    value === null ? '–' : shortAmount(value, unit);
  return html`<table>
    <thead>
      <tr>
        <th>target</th>
        <th class="number">before</th>
        <th class="number">now</th>
        <th>change</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ({ id, unit, before, now, change }) =>
          html`<tr>
            <td class="name">${id}</td>
            <td class="number">${figure(before, unit)}</td>
            <td class="number">${figure(now, unit)}</td>
            <td class="${styles[change]}">${change}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** The steps of a search for the rate that is held. */
export function stepsTable({ steps }: NonNullable<LoadReport['findMax']>): Html {
  return html`<table>
    <thead>
      <tr>
        <th class="number">rate</th>
        <th class="number">for</th>
        <th>holds</th>
        <th>why</th>
      </tr>
    </thead>
    <tbody>
      ${steps.map(
        ({ ratePerSecond, durationMs, holds, reason }) =>
          html`<tr>
            <td class="number">${trimmed(ratePerSecond, 1)}/s</td>
            <td class="number">${seconds(durationMs)}</td>
            <td class="${holds ? 'pass' : 'fail'}">${holds ? '✓ holds' : '✗ fails'}</td>
            <td class="why">${reason}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
