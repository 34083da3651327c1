import type { Finding } from '../checks/check.ts';
import type { RequirementId } from '../requirement.ts';
import type { RequirementResult } from './judge.ts';

/** The finding that shows a cause best. */
export interface CauseExample {
  id: RequirementId;
  finding: Finding;
}

/**
 * Returns the finding that shows best what several failures have in common: that of the most specific
 * requirement. The more of its evidence breaks a requirement, the more specific the requirement is: a
 * rule about all requests shows that some fail, and a rule about exactly these requests shows which. A
 * generated request counts among those with its properties, because a check reports only the smallest
 * of them.
 */
export function chooseExample(
  failures: ReadonlyMap<RequirementId, RequirementResult>,
  ids: readonly RequirementId[],
): CauseExample | undefined {
  const candidates = ids.flatMap((id) => {
    const result = failures.get(id);
    if (result?.verdict !== 'fail') return [];
    const [finding] = result.findings;
    const broken = new Set(result.findings.map(({ exchange }) => exchange));
    const example = result.evidence.find((exchange) => exchange.id === finding.exchange);
    const alike = result.evidence.filter((exchange) =>
      (example?.properties ?? []).every((name) => exchange.properties?.includes(name)),
    );
    const share = alike.filter((exchange) => broken.has(exchange.id)).length / alike.length;
    return [{ id, finding, share }];
  });
  const depthOf = ({ pointer }: Finding): number => pointer.split('/').length;
  const [best] = candidates.toSorted(
    (left, right) =>
      right.share - left.share ||
      depthOf(right.finding) - depthOf(left.finding) ||
      Number(right.finding.hint !== undefined) - Number(left.finding.hint !== undefined),
  );
  return best && { id: best.id, finding: best.finding };
}
