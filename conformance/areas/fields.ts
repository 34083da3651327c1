/** The fields of a message that a peer sends: their checks come from its schema. */
import { schemas, type Endpoint, type MessageName } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { type Check, explainNoValidResponse, unjudgedAs } from '../engine/checks/check.ts';
import { checkShape, isObjectFrom, type ValueHint } from '../engine/checks/shape.ts';
import { drop, editAccepted, set, type Edit } from '../engine/mutants/combinators.ts';
import type { MutantEntry, RequirementEntry, RequirementId } from '../engine/requirement.ts';

/** Stands for a field that is not sent, in place of a wrong value. */
export const missing = Symbol('missing');

/** What the fields of a message have in common. */
interface FieldGroup {
  endpoint: Endpoint;
  message: MessageName;
  /** What the message is called in "No … has this field.", such as "reply". */
  name: string;
  reason: string;
  /** The probes that show the fields which the schema requires. */
  probes?: readonly string[];
  observability?: RequirementEntry['observability'];
  /** Adapts the checks to an endpoint that is optional. */
  adapt?: (check: Check) => Check;
  /** Changes the message before a wrong value is set. */
  prepare?: Edit;
}

/** A requirement about one field. */
interface FieldEntry extends Omit<RequirementEntry, 'check' | 'reason' | 'mutants'> {
  /** The JSON pointer of the field, with `*` for any array item. */
  at: string;
  /** Whether its items are judged, too. */
  withItems?: true;
  reason?: string;
  hint?: ValueHint;
  /** Why it was not judged (default: by whether the schema requires it). */
  unjudged?: Check['unjudged'];
  /** Changes the check that comes from the schema. */
  judge?: (check: Check) => Check;
  /** Values that break the rule: what the mutant of this name does, and the value. */
  wrong?: Readonly<Record<string, readonly [does: string, value: unknown, ...more: Edit[]]>>;
  /** Other mutants. */
  mutants?: Readonly<Record<string, MutantEntry>>;
}

/** Derives the checks of fields from the schema, and their mutants from wrong values. */
export function defineFields<Id extends RequirementId>(
  group: FieldGroup,
  entries: Readonly<Record<Id, FieldEntry>>,
): Readonly<Record<Id, RequirementEntry>> {
  const { endpoint, message, adapt = (check) => check } = group;
  const filter = isObjectFrom(endpoint);
  const optional = unjudgedAs('not_applicable', `No ${group.name} has this field.`);
  const required = explainNoValidResponse(endpoint);
  const toEntry = ([id, { at, withItems, hint, wrong = {}, ...entry }]: [Id, FieldEntry]) => {
    const { unjudged, judge = (check: Check) => check, mutants, ...requirement } = entry;
    const isNeeded = isRequired(message, at);
    const check = checkShape({
      message,
      filter,
      places: [at, ...(withItems ? [`${at}/*`] : [])],
      unjudged: unjudged ?? (isNeeded ? required : optional),
      hint,
    });
    const broken = Object.entries(wrong).map(([name, [does, value, ...more]]) => {
      const place = at.replaceAll('*', '0');
      const edit = value === missing ? drop(place) : set(place, value);
      const edits = [...(group.prepare ? [group.prepare] : []), edit, ...more];
      return [name, { does, transform: editAccepted(endpoint, ...edits) }] as const;
    });
    return [
      id,
      {
        reason: group.reason,
        ...(group.observability && { observability: group.observability }),
        ...(isNeeded && group.probes && { probes: group.probes }),
        ...requirement,
        check: adapt(judge(check)),
        mutants: { ...Object.fromEntries(broken), ...mutants },
      },
    ] as const;
  };
  return Object.fromEntries((Object.entries(entries) as [Id, FieldEntry][]).map(toEntry)) as Record<
    Id,
    RequirementEntry
  >;
}

/** Returns whether the schema of a message requires the field at a place in each object there. */
function isRequired(message: MessageName, place: string): boolean {
  const keys = place.split('/').slice(1);
  const last = keys.pop() ?? '';
  let schema: unknown = schemas[message];
  for (const key of keys) {
    schema = key === '*' ? at(schema, 'items') : at(at(schema, 'properties'), key);
  }
  const names = at(schema, 'required');
  return last === '*' || (Array.isArray(names) && names.includes(last));
}

const at = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);
