import type { Area } from '../../src/contract/index.ts';
import { wrap, type ApplyStyle } from '../../src/report-kit/terminal.ts';
import { hanging } from './layout.ts';
import type { Plan } from '../engine/drive/run.ts';
import {
  areaOf,
  idsOf,
  requirement,
  requirementIds,
  serviceRequirementIds,
  untestable,
  type RequirementId,
} from '../areas/index.ts';
import { PREFLIGHT } from '../engine/transcript/reading.ts';

/** How a listing is written. */
export interface ListingOptions {
  style: ApplyStyle;
  width: number;
}

/**
 * "Sends 88 requests, 31 of which reach a model, and creates 9 users, deleted at the end." To a
 * service it is as many at most: who is refused for its rate sends no more.
 */
export function planSentence(plan: Plan): string {
  const { requests, modelCalls, users, calls } = plan;
  const model = modelCalls === 0 ? '' : `, ${modelCalls} of which reach a model`;
  const placed = calls === 0 ? '' : `, places ${calls} calls`;
  const people =
    users === 0
      ? ''
      : `, and creates ${users} ${users === 1 ? 'user' : 'users'}, deleted at the end`;
  const clock = plan.probes.some(({ intrusive, cleansUp }) => intrusive && cleansUp)
    ? ` ${CLOCK}`
    : '';
  return `Sends ${isOfService(plan) ? 'up to ' : ''}${requests} requests${model}${placed}${people}.${clock}`;
}

const CLOCK =
  'Where it has a control API, its clock is moved on by a day and some minutes, and put back at the end; conversations that wait for more are closed by that.';

const isOfService = ({ peer }: Plan): boolean => peer === 'service';

/** The same, and what the other choice would send, of a service. */
function planSentences({ plan, otherwise }: DryRun): string {
  const sentence = planSentence(plan);
  if (!isOfService(plan)) return sentence;
  const how = plan.probes.some(({ intrusive }) => intrusive)
    ? 'with --no-intrusive'
    : 'with --intrusive, as to a service on this machine';
  return sentence.replace('.', `; ${otherwise.requests} ${how}.`);
}

/** What would be sent, and what where --intrusive said the other. */
export interface DryRun {
  plan: Plan;
  otherwise: Plan;
  prompts: readonly string[];
}

/** What each scenario would send. */
export function dryRunText(dryRun: DryRun, { style, width }: ListingOptions): string {
  const { plan, prompts } = dryRun;
  const nameOf = ({ id, area }: { id: string; area: Area }): string =>
    id === PREFLIGHT ? `${PREFLIGHT}/${area}` : id;
  const nameWidth = 2 + Math.max(...plan.probes.map((scenario) => nameOf(scenario).length));
  const lines = plan.probes.map(({ id, area, phase, cost }) => {
    const { requests, modelCalls, users, calls } = cost(prompts);
    const numbers = [requests, modelCalls, users, calls].map((count) =>
      String(count || '-').padStart(9),
    );
    return `  ${nameOf({ id, area }).padEnd(nameWidth)}${phase.padEnd(10)}${numbers.join('')}`;
  });
  const columns = ['requests', 'model', 'users', 'calls'].map((name) => name.padStart(9));
  const head = `  ${'scenario'.padEnd(nameWidth)}${'phase'.padEnd(10)}${columns.join('')}`;
  const intent = wrap(planSentences(dryRun), width).map((line) => style('bold', line));
  return [...intent, style('dim', head), ...lines, ''].join('\n');
}

/** Every requirement of some areas, a line or two each. */
export function requirementList(areas: readonly Area[], options: ListingOptions): string {
  const ids = areas.flatMap((area) => idsOf(area));
  const idWidth = 2 + Math.max(...ids.map((id) => id.length));
  const levelWidth = 2 + Math.max(...ids.map((id) => requirement(id).level.length));
  const lines = ids.flatMap((id) => {
    const { level, rule } = requirement(id);
    const [first = '', ...more] = wrap(rule, options.width - idWidth - levelWidth);
    return [
      `${options.style('bold', id.padEnd(idWidth))}${level.padEnd(levelWidth)}${first}`,
      ...more.map((line) => `${' '.repeat(idWidth + levelWidth)}${line}`),
    ];
  });
  return `${lines.join('\n')}\n`;
}

/** What a requirement asks; `caughtOn` names the planted faults that it must catch. */
export function requirementText(
  id: RequirementId,
  caughtOn: readonly { id: string; description: string }[],
  { style, width }: ListingOptions,
): string {
  const { level, section, statements, rule, reason, seen } = requirement(id);
  const rows: [string, string][] = [
    ['level', levelWords[level]],
    ['section', `spec ${section}, statements ${statements.join(', ')}`],
    ['why', reason],
    ['seen', seen === 'black-box' ? 'by ordinary requests' : 'only when something provokes it'],
  ];
  return [
    ...hanging(`${id}  `, rule, width).map((line) => line.replace(id, () => style('bold', id))),
    ...rows.flatMap(([name, text]) => {
      const [first = '', ...more] = wrap(text, width - 12);
      return [
        `  ${style('dim', name.padEnd(9))} ${first}`,
        ...more.map((line) => `${' '.repeat(12)}${line}`),
      ];
    }),
    ...(caughtOn.length === 0 ? [] : [`  ${style('dim', 'catches')}`]),
    ...caughtOn.flatMap(({ id: mutant, description }) => {
      const [first = '', ...more] = wrap(`${mutant}: ${description}`, width - 6);
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
export function idsOfStatement(statement: string): { ids: RequirementId[]; reason?: string } {
  const ids = ALL_IDS.filter((id) => requirement(id).statements.includes(statement));
  const row = untestable.find(({ statements }) => statements.includes(statement));
  return row ? { ids, reason: row.reason } : { ids };
}

/** The area that a word names, or undefined. */
export function areaNamed(word: string): Area | undefined {
  const id = ALL_IDS.find((one) => areaOf(one) === word.toLowerCase());
  return id && areaOf(id);
}
