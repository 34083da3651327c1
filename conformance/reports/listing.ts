import type { Area } from '../../src/contract/index.ts';
import { wrap, type Paint } from '../../src/shared/paint.ts';
import type { Plan } from '../drive/run.ts';
import {
  areaOf,
  idsOf,
  requirement,
  requirementIds,
  serviceRequirementIds,
  unseen,
  type RequirementId,
} from '../requirements/index.ts';

/** How a listing is written. */
export interface ListingOptions {
  paint: Paint;
  width: number;
}

/** "Sends 88 requests, 31 of which reach a model, and creates 9 users, deleted at the end." */
export function planSentence({ requests, modelCalls, users, calls }: Plan): string {
  const model = modelCalls === 0 ? '' : `, ${modelCalls} of which reach a model`;
  const placed = calls === 0 ? '' : `, places ${calls} calls`;
  const people =
    users === 0
      ? ''
      : `, and creates ${users} ${users === 1 ? 'user' : 'users'}, deleted at the end`;
  return `Sends ${requests} requests${model}${placed}${people}.`;
}

const NAME_WIDTH = 23;

/** What each scenario would send. */
export function dryRunText(
  plan: Plan,
  prompts: readonly string[],
  { paint, width }: ListingOptions,
): string {
  const lines = plan.scenarios.map(({ id, area, phase, cost }) => {
    const { requests, modelCalls, users, calls } = cost(prompts);
    const numbers = [requests, modelCalls, users, calls].map((count) =>
      String(count || '-').padStart(9),
    );
    const name = id === 'preflight' ? `preflight/${area}` : id;
    return `  ${name.padEnd(NAME_WIDTH)}${phase.padEnd(10)}${numbers.join('')}`;
  });
  const columns = ['requests', 'model', 'users', 'calls'].map((name) => name.padStart(9));
  const head = `  ${'scenario'.padEnd(NAME_WIDTH)}${'phase'.padEnd(10)}${columns.join('')}`;
  const intent = wrap(planSentence(plan), width).map((line) => paint('bold', line));
  return [...intent, paint('dim', head), ...lines, ''].join('\n');
}

/** Every requirement of some areas, a line or two each. */
export function requirementList(areas: readonly Area[], options: ListingOptions): string {
  const lines = areas
    .flatMap((area) => idsOf(area))
    .flatMap((id) => {
      const { level, says } = requirement(id);
      const [first = '', ...more] = wrap(says, options.width - 20);
      return [
        `${options.paint('bold', id.padEnd(11))}${level.padEnd(8)} ${first}`,
        ...more.map((line) => `${' '.repeat(20)}${line}`),
      ];
    });
  return `${lines.join('\n')}\n`;
}

/** What a requirement asks; `caughtOn` names the planted faults that it must catch. */
export function requirementText(
  id: RequirementId,
  caughtOn: readonly { id: string; breaks: string }[],
  { paint, width }: ListingOptions,
): string {
  const { level, section, statements, says, why, seen } = requirement(id);
  const rows: [string, string][] = [
    ['level', levelWords[level]],
    ['section', `spec ${section}, statements ${statements.join(', ')}`],
    ['why', why],
    ['seen', seen === 'black-box' ? 'by ordinary requests' : 'only when something provokes it'],
  ];
  return [
    `${paint('bold', id)}  ${says}`,
    ...rows.flatMap(([name, text]) => {
      const [first = '', ...more] = wrap(text, width - 12);
      return [
        `  ${paint('dim', name.padEnd(9))} ${first}`,
        ...more.map((line) => `${' '.repeat(12)}${line}`),
      ];
    }),
    ...(caughtOn.length === 0 ? [] : [`  ${paint('dim', 'catches')}`]),
    ...caughtOn.flatMap(({ id: mutant, breaks }) => {
      const [first = '', ...more] = wrap(`${mutant}: ${breaks}`, width - 6);
      return [`    - ${first}`, ...more.map((line) => `      ${line}`)];
    }),
    '',
  ].join('\n');
}

const levelWords = {
  must: 'must: breaking it is a fail',
  should: 'should: missing it is a warn, with --strict a fail',
  target: 'target: missing it is a warn, with --strict a fail',
  may: 'may: recorded, not judged',
  extension: 'extension of ours',
} as const;

const ALL_IDS = [...requirementIds, ...serviceRequirementIds];

/** The ids that a statement of the specification is covered by, and why where by none. */
export function idsOfStatement(statement: string): { ids: RequirementId[]; because?: string } {
  const ids = ALL_IDS.filter((id) => requirement(id).statements.includes(statement));
  const row = unseen.find(({ statements }) => statements.includes(statement));
  return row ? { ids, because: row.because } : { ids };
}

/** The area that a word names, or undefined. */
export function areaNamed(word: string): Area | undefined {
  const id = ALL_IDS.find((one) => areaOf(one) === word.toLowerCase());
  return id && areaOf(id);
}
