import type { Area } from '../../src/contract/index.ts';
import { formatCount, formatList, formatNumber } from '../../src/report-kit/format.ts';
import { labeled, wrap, type TextLayout } from '../../src/report-kit/terminal.ts';
import type { Plan } from '../engine/drive/run.ts';
import {
  allAreas,
  allRequirementIds,
  areaOf,
  idsOf,
  requirement,
  suiteOf,
  untestable,
  type RequirementId,
} from '../areas/index.ts';
import { allMutants } from '../areas/mutants.ts';
import { sinceOf } from '../requirement-sets.ts';
import { PREFLIGHT } from '../engine/transcript/reading.ts';

/**
 * Summarizes a plan: "The run sends 88 requests, reaches a model 31 times, and creates 9 users and deletes
 * them at the end." For a service the counts are upper limits, because a probe stops when it is rate-limited.
 */
export const planSentence = (plan: Plan): string => summarizePlan(plan);

function summarizePlan(plan: Plan, alternative = ''): string {
  const { requests, modelCalls, users, calls, probes } = plan;
  const upTo = isForService(plan) ? 'up to ' : '';
  const actions = [
    `sends ${upTo}${formatCount(requests, 'request')}`,
    ...(modelCalls === 0 ? [] : [`reaches a model ${formatCount(modelCalls, 'time')}`]),
    ...(calls === 0 ? [] : [`places ${formatCount(calls, 'call')}`]),
    ...(users === 0
      ? []
      : [
          `creates ${formatCount(users, 'user')} and deletes ${users === 1 ? 'it' : 'them'} at the end`,
        ]),
  ];
  const clock = probes.some(({ probe }) => probe.intrusive && probe.cleansUp)
    ? ` ${CLOCK_SENTENCE}`
    : '';
  return `The run ${formatList(actions)}${alternative}.${clock}`;
}

const CLOCK_SENTENCE =
  'If the service has a control API, the run advances its clock by about 25 hours and resets it at the end; this closes conversations that are still open.';

const isForService = ({ peer }: Plan): boolean => peer === 'service';

/** Summarizes a plan; for a service also how many requests the opposite of `--intrusive` sends. */
function planWithAlternative({ plan, alternative }: DryRun): string {
  if (!isForService(plan)) return summarizePlan(plan);
  const option = plan.probes.some(({ probe }) => probe.intrusive)
    ? '--no-intrusive'
    : '--intrusive (the default for a service on this machine)';
  return summarizePlan(plan, `; with ${option}, ${formatCount(alternative.requests, 'request')}`);
}

/** A plan, and the plan with the opposite of `--intrusive`. */
export interface DryRun {
  plan: Plan;
  alternative: Plan;
}

/** Lists what each probe would send. */
export function dryRunText(dryRun: DryRun, { style, width }: TextLayout): string {
  const { plan } = dryRun;
  const nameOf = ({ id, area }: { id: string; area: Area }): string =>
    id === PREFLIGHT ? `${PREFLIGHT}/${area}` : id;
  const nameWidth = 2 + Math.max(...plan.probes.map(({ probe }) => nameOf(probe).length));
  const row = (name: string, phase: string, cells: readonly string[]): string =>
    `  ${name.padEnd(nameWidth)}${phase.padEnd(10)}${cells.map((cell) => cell.padStart(9)).join('')}`;
  const lines = plan.probes.map(({ probe, cost: { requests, modelCalls, users, calls } }) => {
    const counts = [requests, modelCalls, users, calls];
    return row(
      nameOf(probe),
      probe.phase,
      counts.map((count) => (count === 0 ? '-' : formatNumber(count))),
    );
  });
  return [
    ...wrap(planWithAlternative(dryRun), width).map((line) => style('bold', line)),
    style('dim', row('probe', 'phase', ['requests', 'model', 'users', 'calls'])),
    ...lines,
    '',
  ].join('\n');
}

/** Lists every requirement of some areas, or the selected ones. */
export function requirementList(
  areas: readonly Area[],
  { style, width }: TextLayout,
  selected?: readonly RequirementId[],
): string {
  const ids = selected ?? areas.flatMap((area) => idsOf(area));
  const idWidth = 2 + Math.max(...ids.map((id) => id.length));
  const levelWidth = 2 + Math.max(...ids.map((id) => requirement(id).level.length));
  const lines = ids.flatMap((id) => {
    const { level, rule } = requirement(id);
    return labeled(`${style('bold', id.padEnd(idWidth))}${level.padEnd(levelWidth)}`, rule, width);
  });
  return `${lines.join('\n')}\n`;
}

/** Explains a requirement: its rule, the probes that exercise it, and the mutants that it must catch. */
export function requirementText(id: RequirementId, { style, width }: TextLayout): string {
  const mutants = allMutants.filter(({ kills }) => kills.includes(id));
  const { level, section, statements, rule, reason, observability } = requirement(id);
  const fields: [string, string][] = [
    ['level', levelDescriptions[level]],
    ['since', sinceOf(id) ?? 'the next release'],
    ['section', `spec ${section}, statements ${statements.join(', ')}`],
    ['reason', reason],
    ['probes', describeProbes(id)],
    [
      'observed',
      observability === 'black-box' ? 'with ordinary requests' : 'only when something provokes it',
    ],
  ];
  return [
    ...labeled(`${style('bold', id)}  `, rule, width),
    ...fields.flatMap(([name, text]) =>
      text === '' ? [] : labeled(`  ${style('dim', name.padEnd(9))} `, text, width),
    ),
    ...(mutants.length === 0 ? [] : [`  ${style('dim', 'catches')}`]),
    ...mutants.flatMap(({ id: mutant, description }) =>
      labeled('    - ', `${mutant}: ${description}`, width),
    ),
    '',
  ].join('\n');
}

/** Lists the probes that always provide evidence for a requirement; empty if no probe does. */
function describeProbes(id: RequirementId): string {
  const ids = suiteOf({ areas: [areaOf(id)] })
    .probes.filter(({ exercises }) => exercises.includes(id))
    .map((probe) => probe.id);
  return ids.length === 0 ? '' : `${ids.join(', ')}; responses to other probes are judged, too`;
}

const levelDescriptions = {
  must: 'must (a violation is a fail)',
  should: 'should (a violation is a warn; with --strict, a fail)',
  target: 'target (a miss is a warn; with --strict, a fail)',
  may: 'may (recorded, not judged)',
  extension: 'extension (a rule of the kit, not of the specification)',
} as const;

/** Returns the requirements that cover a statement of the specification, or the reason why none does. */
export function idsOfStatement(statement: string): { ids: RequirementId[]; reason?: string } {
  const ids = allRequirementIds.filter((id) => requirement(id).statements.includes(statement));
  const row = untestable.find(({ statements }) => statements.includes(statement));
  return row ? { ids, reason: row.reason } : { ids };
}

/** Finds an area by name. */
export function findArea(word: string): Area | undefined {
  return allAreas.find((area) => area === word.toLowerCase());
}
