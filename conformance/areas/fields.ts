/** The fields of a message that a peer sends: their checks come from its schema. */
import { schemas, type Endpoint, type MessageName } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { type Check, explainNoValidResponse, unjudgedAs } from '../engine/checks/check.ts';
import {
  checkShape,
  type ExchangeFilter,
  isObjectFrom,
  type ValueHint,
} from '../engine/checks/shape.ts';
import { drop, editAccepted, set, type Edit } from '../engine/mutants/combinators.ts';
import type { TransformFactory } from '../engine/mutants/mutant.ts';
import type {
  MutantEntry,
  PartialEntry,
  RequirementDefaults,
  RequirementEntry,
} from '../engine/requirement.ts';

/** Why the type of a field matters, if an entry names no other reason. */
const TYPE_REASON = 'The service expects this type; it drops another value or ends the simulation.';

/** Stands for a field that is not sent, in place of a wrong value. */
export const missing = Symbol('missing');

/** The common properties of the fields of a message. */
export interface FieldDefaults extends RequirementDefaults {
  endpoint: Endpoint;
  message: MessageName;
  /** Why a field was not judged (default: by whether the schema requires it). */
  unjudged?: Check['unjudged'];
  /** Completes "No … has this field." */
  noun: string;
  /** Edits the message before a wrong value is set. */
  editFirst?: Edit;
  /** Selects the responses that are judged (default: 2xx with a JSON object). */
  filter?: ExchangeFilter;
  /** Applies the edits of a mutant to responses (default: to 2xx). */
  editResponses?: (...edits: Edit[]) => TransformFactory;
}

/** A requirement about one field, except what the schema says. */
export interface FieldEntry extends Omit<PartialEntry, 'check'> {
  /** Whether the items of the array are judged, too. */
  withItems?: true;
  hint?: ValueHint;
  wrapCheck?: (check: Check) => Check;
  /** Values that break the rule, by mutant: what it does, the value, and other edits. */
  wrong?: Readonly<Record<string, readonly [description: string, value: unknown, ...more: Edit[]]>>;
}

/**
 * Returns a function that writes the requirement of a field of a message, from its JSON pointer with
 * `*` for any array item. It derives the check from the schema, and mutants from wrong values. Of
 * several fields, the values are those of the first one.
 */
export function fieldsOf(message: FieldDefaults) {
  const { endpoint, noun, editFirst, wrapCheck = (check: Check) => check } = message;
  const { filter = isObjectFrom(endpoint) } = message;
  const { editResponses = (...edits: Edit[]) => editAccepted(endpoint, ...edits) } = message;
  return (fields: string | readonly [string, ...string[]], entry: FieldEntry): RequirementEntry => {
    const { withItems, hint, wrong = {}, mutants, wrapCheck: wrapOwn, ...requirement } = entry;
    const [at, ...others] = [fields].flat() as [string, ...string[]];
    const isNeeded = isRequired(message.message, at);
    const unjudged =
      message.unjudged ??
      (isNeeded
        ? explainNoValidResponse(endpoint)
        : unjudgedAs('not_applicable', `No ${noun} has this field.`));
    const places = [at, ...others, ...(withItems ? [`${at}/*`] : [])];
    const check = checkShape({ message: message.message, filter, places, unjudged, hint });
    const place = at.replaceAll('*', '0');
    const toMutant = ([description, value, ...more]: readonly [string, unknown, ...Edit[]]) => {
      const edit = value === missing ? drop(place) : set(place, value);
      const edits = [...(editFirst ? [editFirst] : []), edit, ...more];
      return { description, transform: editResponses(...edits) } satisfies MutantEntry;
    };
    return {
      reason: message.reason ?? TYPE_REASON,
      ...(message.observability && { observability: message.observability }),
      ...(message.probes && isNeeded && { probes: message.probes }),
      ...requirement,
      check: wrapCheck(wrapOwn ? wrapOwn(check) : check),
      mutants: {
        ...Object.fromEntries(Object.entries(wrong).map(([name, row]) => [name, toMutant(row)])),
        ...mutants,
      },
    };
  };
}

/**
 * Returns whether the schema of a message requires the field at a place.
 *
 * @throws {Error} if the schema has no such field.
 */
export function isRequired(message: MessageName, place: string): boolean {
  const keys = place.split('/').slice(1);
  let schema: unknown = schemas[message];
  let isNeeded = true;
  for (const key of keys) {
    const required = valueAt(schema, 'required');
    isNeeded = key === '*' || (Array.isArray(required) && required.includes(key));
    schema = key === '*' ? valueAt(schema, 'items') : valueAt(valueAt(schema, 'properties'), key);
    const reference = valueAt(schema, '$ref');
    schema = Object.values(schemas).find(({ $id }) => $id === reference) ?? schema;
    if (schema === undefined) throw new Error(`${message} has no ${place}.`);
  }
  return isNeeded;
}

const valueAt = (value: unknown, key: string): unknown =>
  isObject(value) ? value[key] : undefined;
