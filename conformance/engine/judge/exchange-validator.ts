import type { ExchangeRecord, Level, RunRecord } from '../../../src/contract/index.ts';
import type { Suite } from '../area.ts';
import type { Check, Finding } from '../checks/check.ts';
import type { RequirementId } from '../requirement.ts';
import { toExchange } from '../transcript/transcript.ts';

/** A must that a single exchange breaks. */
export interface BrokenMust {
  id: RequirementId;
  /** The JSON pointer and the expected value; never content of the response. */
  rule: string;
}

/** A deviation of a single exchange from a requirement. */
export interface ExchangeFinding {
  id: RequirementId;
  finding: Finding;
}

/** The only part of a run that the checks read from a single exchange. */
const run: RunRecord = {
  record: 'run',
  kitVersion: '',
  suite: '',
  target: '',
  seed: '',
  startedAt: '1970-01-01T00:00:00.000Z',
  areas: ['chat', 'health', 'users', 'service'],
  allowHttp: true,
  keyGiven: false,
  concurrency: 1,
};

/**
 * Creates a function that returns where an exchange deviates on its own from the requirements of
 * some levels. Rules that compare exchanges are not checked.
 */
export function createExchangeJudge(
  { areas }: Suite,
  levels: readonly Level[],
): (record: ExchangeRecord) => ExchangeFinding[] {
  const rows = areas.flatMap(({ endpoints, requirements, checks }) => {
    const judged = (Object.keys(requirements) as RequirementId[]).flatMap((id) => {
      const level = requirements[id]?.level;
      const check = checks[id];
      return level && check && levels.includes(level) ? [{ id, check }] : [];
    });
    return endpoints.map((endpoint) => [endpoint, judged] as const);
  });
  const checksByEndpoint = new Map<string, readonly { id: RequirementId; check: Check }[]>(rows);
  return (record) => {
    const exchange = toExchange(record);
    const transcript = { run, exchanges: [exchange] };
    return (checksByEndpoint.get(record.endpoint) ?? []).flatMap(({ id, check }) => {
      const evidence = check.evidence(transcript);
      const findings = evidence.length === 0 ? [] : check.judge(evidence, transcript);
      return findings.map((finding) => ({ id, finding }));
    });
  };
}

/**
 * Creates a function that returns the musts that an exchange breaks on its own. It serves load runs,
 * which validate many exchanges one by one.
 */
export function createExchangeValidator(suite: Suite): (record: ExchangeRecord) => BrokenMust[] {
  const judge = createExchangeJudge(suite, ['must']);
  return (record) => {
    // One finding per requirement is enough, and the others have the same rule.
    const first = new Map<RequirementId, Finding>();
    for (const { id, finding } of judge(record)) if (!first.has(id)) first.set(id, finding);
    return [...first].map(([id, { pointer, expected }]) => ({
      id,
      rule: `${pointer === '' ? '' : `${pointer}: `}expected ${expected}`,
    }));
  };
}
