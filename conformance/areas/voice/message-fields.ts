/** The fields of the messages that a sandbox sends in a call: their checks come from the schema. */
import {
  findViolations,
  resolvePointer,
  schemas,
  type MessageName,
  type Violation,
} from '../../../src/contract/index.ts';
import { type Check, checkEach } from '../../engine/checks/check.ts';
import { createMessageRepair } from '../../engine/checks/repair.ts';
import { resolveHint, type ValueHint } from '../../engine/checks/shape.ts';
import { drop, set } from '../../engine/mutants/combinators.ts';
import type { PartialEntry } from '../../engine/requirement.ts';
import { sandboxMessagesOf, type ParsedMessage } from '../../engine/transcript/call-messages.ts';
import { isRequired, missing } from '../fields.ts';
import { editsOf } from './call-transforms.ts';

const REASON = 'The service expects this type; it drops another value or ends the call.';

/** The common properties of the fields of a message of a call. */
interface MessageDefaults {
  message: MessageName;
  /** Explains why no such message was judged. */
  explainNone: Check['unjudged'];
  /** Explains why no such message has an optional field. */
  explainNoField?: Check['unjudged'];
}

/** A requirement about one field and what is in it, except what the schema says. */
interface MessageFieldEntry extends Omit<PartialEntry, 'check'> {
  hint?: ValueHint;
  /** Values that break the rule, by mutant: the JSON pointer and the value. */
  wrong?: Readonly<Record<string, readonly [at: string, value: unknown]>>;
}

/**
 * Returns a function that writes the requirement of a field of a message of a call, from its JSON
 * pointer. It derives the check of the field and of what is in it from the schema, and mutants from wrong
 * values.
 */
export function fieldsOfMessage({ message, explainNone, explainNoField }: MessageDefaults) {
  const type = String(resolvePointer(schemas[message], '/properties/type/const'));
  const sends = editsOf(type);
  return (at: string, { hint, wrong = {}, mutants, ...entry }: MessageFieldEntry): PartialEntry => {
    const violationsIn = (parsed: ParsedMessage): Violation[] =>
      violationsOf(parsed, message).filter(
        ({ pointer }) => pointer === at || pointer.startsWith(`${at}/`),
      );
    const check = checkEach(
      (exchange) =>
        sandboxMessagesOf(exchange, type).some(
          (parsed) =>
            violationsIn(parsed).length > 0 || resolvePointer(parsed.json, at) !== undefined,
        ),
      (exchange) =>
        sandboxMessagesOf(exchange, type).flatMap((parsed) =>
          violationsIn(parsed).map((violation) => ({
            exchange: exchange.id,
            ...violation,
            ...resolveHint({ message, hint }, parsed.json, violation),
            repair: createMessageRepair(violation, type),
          })),
        ),
      isRequired(message, at) ? explainNone : (explainNoField ?? explainNone),
    );
    const wrongValues = Object.entries(wrong).map(([name, [place, value]]) => {
      const edit = value === missing ? drop(place) : set(place, value);
      return [name, sends(describeWrong(place, value), edit)] as const;
    });
    return {
      reason: REASON,
      ...entry,
      check,
      mutants: { ...Object.fromEntries(wrongValues), ...mutants },
    };
  };
}

const cachedViolations = new WeakMap<ParsedMessage, Violation[]>();

function violationsOf(parsed: ParsedMessage, message: MessageName): Violation[] {
  const result = cachedViolations.get(parsed) ?? findViolations(message, parsed.json);
  cachedViolations.set(parsed, result);
  return result;
}

/** Describes a wrong value: "Sends `error.code` as a number." Fields of `metadata` are named alone. */
function describeWrong(at: string, value: unknown): string {
  const name = at.replace(/^\/((evaluation_)?metadata\/)?/, '').replaceAll('/', '.');
  return value === missing ? `Omits \`${name}\`.` : `Sends \`${name}\` as ${typeOf(value)}.`;
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
