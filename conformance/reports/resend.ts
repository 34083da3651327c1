import type { ExchangeRecord, ResendReport, ResentEval } from '../../src/contract/index.ts';
import { formatCount, formatDuration, formatNumber } from '../../src/report-kit/format.ts';
import { toPrintable } from '../../src/report-kit/printable.ts';
import { typeCommandsIn } from '../../src/report-kit/program-name.ts';
import {
  labeled,
  wrapBreakingWords,
  type Style,
  type TextLayout,
} from '../../src/report-kit/terminal.ts';
import { describeOutcome } from '../engine/transcript/reading.ts';
import { shortList } from './summary.ts';

/** The longest text of a body and of a header to show. */
const BODY_LENGTH_MAX = 600;
const HEADER_LENGTH_MAX = 100;

const headings: Record<ResendReport['verdict'], [Style, string]> = {
  conforming: ['green', 'CONFORMING'],
  'not-conforming': ['red', 'NOT CONFORMING'],
  'not-judged': ['yellow', 'NOT JUDGED'],
};

/** Lays out for people what was sent, what came back, and how it is judged. */
export function resendText(original: ResendReport, layout: TextLayout): string {
  const report = toPrintable(original);
  const { style, width, program } = layout;
  const [color, heading] = headings[report.verdict];
  const sentences = [typeCommandsIn(report.sentence, program), describeSurvival(report)];
  const verdict = labeled(
    `${style(color, style('bold', heading))}  `,
    sentences.filter((text) => text !== undefined).join(' '),
    width,
  );
  const blocks = [
    beforeLines(report, layout),
    sideLines('Prepared', report.prepared, layout),
    report.exchange ? requestLines(report.exchange, layout) : [],
    report.exchange ? responseLines(report.exchange, layout) : [],
    sideLines('Together', report.together ?? [], layout),
    sideLines('Cleaned up', report.cleanedUp, layout),
    ...findingBlocks(report, layout),
    holdingLines(report, layout),
    ...evalBlocks(report, layout),
    verdict,
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function beforeLines({ before }: ResendReport, { width }: TextLayout): string[] {
  if (!before) return [];
  const { id, step, repeats } = before;
  const again = repeats === undefined ? '' : `, which repeated exchange ${repeats}`;
  return wrapBreakingWords(
    `Exchange ${id} "${step}"${again}. In the run, its outcome was ${describeOutcome(before)}.`,
    width,
  );
}

function sideLines(
  title: string,
  requests: ResendReport['prepared'],
  { style, width }: TextLayout,
): string[] {
  if (requests.length === 0) return [];
  const lines = requests.flatMap(({ request, outcome, purpose, exchange }) => {
    const number = exchange === undefined ? '' : `, exchange ${exchange}`;
    return labeled('  ', `${request} -> ${outcome} (${purpose}${number})`, width);
  });
  return [style('bold', title), ...lines];
}

function requestLines({ request }: ExchangeRecord, layout: TextLayout): string[] {
  const { method, path, headers, body, bodyBytes } = request;
  return [
    layout.style('bold', 'Request'),
    ...labeled('  ', `${method} ${path}`, layout.width),
    ...contentLines(headers, body ?? '', bodyBytes, layout),
  ];
}

function responseLines(exchange: ExchangeRecord, layout: TextLayout): string[] {
  const { response, failure, startedMs, endedMs } = exchange;
  const message = failure ? ` (${failure.message})` : '';
  const outcome = `${describeOutcome(exchange)}${message}`;
  return [
    layout.style('bold', 'Response'),
    ...labeled('  ', `${outcome}, after ${formatDuration(endedMs - startedMs)}`, layout.width),
    ...(response ? contentLines(response.headers, response.body, undefined, layout) : []),
  ];
}

function contentLines(
  headers: Record<string, string>,
  body: string,
  bodyBytes: number | undefined,
  { style, width }: TextLayout,
): string[] {
  const lines = Object.entries(headers).map(([name, value]) => {
    const text = `${name}: ${value}`;
    return `  ${style('dim', text.length > HEADER_LENGTH_MAX ? `${text.slice(0, HEADER_LENGTH_MAX)}...` : text)}`;
  });
  if (body === '') return lines;
  const bytes = bodyBytes ?? Buffer.byteLength(body);
  const shown = body.slice(0, BODY_LENGTH_MAX).toWellFormed();
  const isCut = shown.length < body.length || bodyBytes !== undefined;
  return [
    ...lines,
    ...labeled('  ', shown, width),
    ...(isCut ? [style('dim', `  ... cut: the body has ${formatNumber(bytes)} bytes`)] : []),
  ];
}

/** Describes each requirement that is not met, or that could not be judged. */
function findingBlocks({ requirements }: ResendReport, { style, width }: TextLayout): string[][] {
  const styles = { fail: 'red', warn: 'yellow', not_judged: 'yellow', pass: 'green' } as const;
  return requirements
    .filter(({ verdict }) => verdict !== 'pass')
    .map((row) => {
      const fields = [
        ['at', row.pointer === '' ? undefined : row.pointer],
        ['expected', row.expected],
        ['received', row.received],
        ['hint', row.hint],
        ['reason', row.reason],
      ] as const;
      const label = row.verdict === 'not_judged' ? 'OPEN ' : row.verdict.toUpperCase().padEnd(5);
      return [
        `${style(styles[row.verdict], label)} ${style('bold', row.id)}`,
        ...labeled(' '.repeat(6), `${row.rule} (spec ${row.section})`, width),
        ...fields.flatMap(([name, text]) =>
          text === undefined ? [] : labeled(`      ${style('dim', name.padEnd(9))} `, text, width),
        ),
      ];
    });
}

function holdingLines({ requirements }: ResendReport, { style, width }: TextLayout): string[] {
  const passed = requirements.filter(({ verdict }) => verdict === 'pass');
  if (passed.length === 0) return [];
  const fixed = passed.filter(({ wasBroken }) => wasBroken).map(({ id }) => id);
  const now = fixed.length === 0 ? '' : ` Broken in the run, met now: ${shortList(fixed)}.`;
  const list = shortList(passed.map(({ id }) => id));
  const verb = passed.length === 1 ? 'is' : 'are';
  const text = `${formatCount(passed.length, 'requirement')} ${verb} met: ${list}.${now}`;
  return labeled(`${style('green', 'PASS')}  `, text, width);
}

/** Describes each eval that the session did not pass, those that pass now last. */
function evalBlocks({ evals = [] }: ResendReport, { style, width }: TextLayout): string[][] {
  const labels: Record<ResentEval['verdict'], [Style, string]> = {
    fail: ['red', 'FAIL '],
    warn: ['yellow', 'WARN '],
    not_judged: ['yellow', 'OPEN '],
    elsewhere: ['dim', 'OTHER'],
    pass: ['green', 'PASS '],
  };
  const order = Object.keys(labels);
  return evals
    .toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict))
    .map(({ id, name, verdict, reason }) => {
      const [color, label] = labels[verdict];
      return [
        ...labeled(`${style(color, label)} `, `${style('bold', `eval ${id}`)}: ${name}`, width),
        ...labeled(' '.repeat(6), reason, width),
      ];
    });
}

/** Says whether the sandbox still runs after a request without a response. */
function describeSurvival({ stillResponds }: ResendReport): string | undefined {
  if (stillResponds === undefined) return undefined;
  return stillResponds
    ? 'The sandbox still responds to GET /health.'
    : 'The sandbox no longer responds to GET /health: this request stopped it.';
}
