import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { formatNumber } from '../../src/report-kit/format.ts';

type Coverage = NonNullable<CheckReport['coverage']>;

const isJudged = ({ verdict }: Pick<RequirementVerdict, 'verdict'>): boolean =>
  /^(pass|fail|warn|note)$/.test(verdict);

/** Counts the judged requirements, and groups the others by reason. */
export function coverageOf(rows: readonly RequirementVerdict[]): Coverage {
  const counted = rows.filter(({ verdict }) => !/^not_(selected|applicable)$/.test(verdict));
  const open = counted.filter((row) => !isJudged(row));
  const groups = Map.groupBy(open, ({ verdict, reason = verdict, remedy = '' }) =>
    JSON.stringify([reason, remedy]),
  );
  const unjudged = [...groups.values()].map((group): Coverage['unjudged'][number] => {
    const { verdict, reason = verdict, remedy } = group[0] as RequirementVerdict;
    const requirements = group.map(({ id }) => id);
    return { reason, ...(remedy !== undefined && { remedy }), requirements };
  });
  return {
    judged: counted.length - open.length,
    total: counted.length,
    unjudged: unjudged.toSorted((a, b) => b.requirements.length - a.requirements.length),
  };
}

/** Says what share of the requirements was judged. Those that do not apply are not counted. */
export function describeCoverage({ judged, total }: Coverage): string {
  // Rounded down, so that 100% means all.
  const percent = total === 0 ? 0 : Math.floor((100 * judged) / total);
  const [noun, verb] = total === 1 ? ['requirement', 'applies'] : ['requirements', 'apply'];
  return `Judged ${judged} of ${formatNumber(total)} ${noun} that ${verb} (${percent}%).`;
}

/** Returns a sentence for each reason why requirements were not judged, and what would change that. */
export function describeUnjudged({ unjudged }: Coverage): { text: string; ids: string[] }[] {
  return unjudged.map(({ reason, remedy, requirements: ids }) => ({
    text: `${ids.length} not judged: ${[reason, remedy].filter(Boolean).join(' ')}`,
    ids,
  }));
}
