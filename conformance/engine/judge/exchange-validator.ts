import type { ExchangeRecord, RunRecord } from '../../../src/contract/index.ts';
import type { Suite } from '../area.ts';
import type { RequirementId } from '../requirement.ts';
import { toExchange } from '../transcript/transcript.ts';

/** A must that a single exchange breaks. */
export interface BrokenMust {
  id: RequirementId;
  /** The JSON pointer and the expected value; never content of the response. */
  rule: string;
}

/** The only part of a run that the checks of a must read from a single exchange. */
const run: RunRecord = {
  record: 'run',
  kitVersion: '',
  suite: '',
  target: '',
  seed: '',
  startedAt: '1970-01-01T00:00:00.000Z',
  areas: ['chat', 'health', 'users'],
  allowHttp: true,
  keyGiven: false,
  concurrency: 1,
};

/**
 * Creates a function that returns the musts that an exchange breaks on its own. It serves load runs,
 * which validate many exchanges one by one. Rules that compare exchanges are not checked.
 */
export function createExchangeValidator({
  areas,
}: Suite): (record: ExchangeRecord) => BrokenMust[] {
  const rows = areas.flatMap(({ endpoints, requirements, checks }) => {
    const musts = (Object.keys(requirements) as RequirementId[])
      .filter((id) => requirements[id]?.level === 'must')
      .flatMap((id) => (checks[id] ? [{ id, check: checks[id] }] : []));
    return endpoints.map((endpoint) => [endpoint, musts] as const);
  });
  const mustsByEndpoint = new Map(rows);
  return (record) => {
    const exchange = toExchange(record);
    const transcript = { run, exchanges: [exchange] };
    return (mustsByEndpoint.get(record.endpoint) ?? []).flatMap(({ id, check }) => {
      const evidence = check.evidence(transcript);
      const [finding] = evidence.length === 0 ? [] : check.judge(evidence, transcript);
      if (!finding) return [];
      const at = finding.pointer === '' ? '' : `${finding.pointer}: `;
      return [{ id, rule: `${at}expected ${finding.expected}` }];
    });
  };
}
