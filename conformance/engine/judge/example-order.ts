import type { Suite } from '../area.ts';
import type { Finding } from '../checks/check.ts';
import type { Exchange, Transcript } from '../transcript/transcript.ts';

/** Returns a function that orders the findings of a requirement. */
export type FindingSort = (findings: readonly Finding[]) => Finding[];

/**
 * Creates a function that orders findings by probe and step instead of by exchange id, because the
 * order in which concurrent requests end differs from run to run. The first finding is the example in
 * every report.
 */
export function createFindingSort({ peer, probes }: Suite, { exchanges }: Transcript): FindingSort {
  // The exchanges of a client stay in the order of arrival.
  if (peer === 'client') {
    return (findings) => findings.toSorted((left, right) => left.exchange - right.exchange);
  }
  // Several areas have a probe with the id of the preflight; it ran first.
  const ranks = new Map(probes.map(({ id }, index) => [id, index] as const).reverse());
  const byId = new Map(exchanges.map((exchange) => [exchange.id, exchange]));
  const compare = (left: Exchange, right: Exchange): number =>
    (ranks.get(left.probe) ?? ranks.size) - (ranks.get(right.probe) ?? ranks.size) ||
    compareText(left.step, right.step) ||
    bodyOf(left).length - bodyOf(right).length ||
    compareText(bodyOf(left), bodyOf(right)) ||
    left.id - right.id;
  return (findings) =>
    findings.toSorted((left, right) => {
      const [first, second] = [byId.get(left.exchange), byId.get(right.exchange)];
      return first && second ? compare(first, second) : 0;
    });
}

const bodyOf = ({ request }: Exchange): string => request.body ?? request.path;

const compareText = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0;
