import { formatValue } from '../../../contract/index.ts';
import { ParameterError } from '../../requests/errors.ts';
import type { SessionFilter } from '../../store/store.ts';
import { readListFilter } from '../frame/list-filter.ts';
import { SEARCH_CHARS_MAX } from '../frame/page-frame.ts';

/** The outcomes that the list can be limited to, with their names on the page. */
export const OUTCOME_FILTERS = {
  failed: 'with a failed eval',
  errored: 'with an errored eval',
  unfinished: 'not completed',
} as const;

/**
 * Reads the filter of the list of sessions: the filters of the results endpoints, and `outcome`, `tag`
 * (`key` or `key=value`, several separated by commas), `text`, and the exact `run_id` with
 * `scenario_id`, and `eval_id` with `eval_version`.
 * `failed_only` means the outcome `failed`, so that it is a failure of the eval that the query names. An
 * invalid query gives the filter without it, and the problem.
 */
export function readSessionFilter(
  query: URLSearchParams,
  ownerId: string,
): { filter: SessionFilter; problem?: ParameterError } {
  const { filter, problem } = readListFilter(query, ownerId);
  if (problem) return { filter, problem };
  try {
    const outcome = filter.failedOnly ? { outcome: 'failed' as const } : {};
    return { filter: { ...filter, ...outcome, ...readSearch(query) } };
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    return { filter, problem: error };
  }
}

function readSearch(
  query: URLSearchParams,
): Pick<
  SessionFilter,
  'outcome' | 'tags' | 'text' | 'runId' | 'scenarioId' | 'evalId' | 'evalVersion'
> {
  const outcome = query.get('outcome') ?? '';
  if (outcome !== '' && !isOutcomeFilter(outcome)) {
    const names = Object.keys(OUTCOME_FILTERS).join(', ');
    throw new ParameterError('outcome', `must be ${names}, got ${formatValue(outcome)}.`);
  }
  const text = readShort(query, 'text');
  const tag = readShort(query, 'tag');
  const [runId, evalId] = [query.get('run_id') ?? '', query.get('eval_id') ?? ''];
  const scenarioId = query.get('scenario_id') ?? '';
  const evalVersion = query.get('eval_version') ?? '';
  return {
    ...(runId !== '' && { runId, ...(scenarioId !== '' && { scenarioId }) }),
    ...(evalId !== '' && { evalId }),
    ...(evalId !== '' && evalVersion !== '' && { evalVersion }),
    ...(isOutcomeFilter(outcome) && { outcome }),
    ...(text !== '' && { text }),
    ...(tag !== '' && { tags: parseTags(tag) }),
  };
}

const isOutcomeFilter = (name: string): name is keyof typeof OUTCOME_FILTERS =>
  Object.hasOwn(OUTCOME_FILTERS, name);

function readShort(query: URLSearchParams, name: string): string {
  const text = query.get(name)?.trim() ?? '';
  if (text.length <= SEARCH_CHARS_MAX) return text;
  const problem = `must have at most ${SEARCH_CHARS_MAX} characters, got ${text.length}.`;
  throw new ParameterError(name, problem);
}

/** A search reads the tags of each session. */
const TAGS_MAX = 10;

/**
 * Parses tags separated by commas. The first equals sign ends the key. A comma after a backslash is
 * part of the tag.
 */
function parseTags(text: string): NonNullable<SessionFilter['tags']> {
  const tags = text.split(/(?<!\\),/).map((part) => {
    const [key = '', ...rest] = part.replaceAll('\\,', ',').split('=');
    return { key: key.trim(), ...(rest.length > 0 && { value: rest.join('=').trim() }) };
  });
  if (tags.length <= TAGS_MAX && tags.every(({ key }) => key !== '')) return tags;
  const problem = `must be 1 to ${TAGS_MAX} tags as key or key=value, separated by commas, got ${formatValue(text)}. Example: model=mini, tier.`;
  throw new ParameterError('tag', problem);
}

/** Returns the query for sessions with a tag; undefined if the filter can't express it. */
export function makeTagQuery({ key, value }: { key: string; value: string }): string | undefined {
  const query = `${key}=${value}`.replaceAll(',', '\\,');
  if (query.length > SEARCH_CHARS_MAX) return undefined;
  const [tag, ...others] = key.trim() === '' || key.includes('=') ? [] : parseTags(query);
  return others.length === 0 && tag?.key === key && tag.value === value ? query : undefined;
}
