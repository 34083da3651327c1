import type { ExchangeRecord, RunRecord } from '../../../src/contract/index.ts';
import { checks } from '../../areas/checks.ts';
import { areaOf, requirement, requirementIds, type RequirementId } from '../../areas/index.ts';
import { toExchange } from '../transcript/transcript.ts';

/** A must that one exchange breaks. */
export interface BrokenMust {
  id: RequirementId;
  /** Where, what was expected; never what the answer says. */
  rule: string;
}

/** Of the run that the exchange was not part of, the checks of a must read nothing but this. */
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

const mustsOf = (area: string): RequirementId[] =>
  requirementIds.filter((id) => areaOf(id) === area && requirement(id).level === 'must');

const musts: Record<string, RequirementId[]> = {
  chat: mustsOf('chat'),
  health: mustsOf('health'),
  users: mustsOf('users'),
};

/**
 * The musts that an exchange breaks, judged alone: by the checks of the ledger, for the many
 * exchanges of a load run. What needs other exchanges for a comparison is not judged.
 */
export function brokenMusts(record: ExchangeRecord): BrokenMust[] {
  const exchange = toExchange(record);
  const transcript = { run, exchanges: [exchange] };
  const area = ['create', 'delete'].includes(record.endpoint) ? 'users' : record.endpoint;
  return (musts[area] ?? []).flatMap((id) => {
    const check = checks[id];
    const evidence = check.evidence(transcript);
    const [finding] = evidence.length === 0 ? [] : check.judge(evidence, transcript);
    if (!finding) return [];
    const at = finding.pointer === '' ? '' : `${finding.pointer}: `;
    return [{ id, rule: `${at}expected ${finding.expected}` }];
  });
}
