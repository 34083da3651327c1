/** Optional fields of a response whose name is spelled in another way, such as `finishReason`. */
import { describeMisspelled } from '../../src/contract/index.ts';
import { type Check, checkEach } from '../engine/checks/check.ts';
import type { PartialEntry, RequirementEntry } from '../engine/requirement.ts';
import type { Exchange } from '../engine/transcript/reading.ts';
import { misspelledFieldsOf } from './diagnoses/misspelled-fields.ts';

/** A requirement about the names of fields, except what those of all responses have in common. */
type NamesEntry = Omit<PartialEntry, 'level' | 'reason' | 'check'> & {
  isResponse: (exchange: Exchange) => boolean;
  unjudged: Check['unjudged'];
  wrapCheck?: (check: Check) => Check;
};

/** Writes the requirement about the names of optional fields. A required one with another name is missing. */
export function fieldNames({
  isResponse,
  unjudged,
  wrapCheck = (check) => check,
  ...entry
}: NamesEntry): RequirementEntry {
  const check = checkEach(
    isResponse,
    (exchange) =>
      misspelledFieldsOf(exchange)
        .filter(({ isRequired }) => !isRequired)
        .map(({ pointer, found, name }) => ({
          exchange: exchange.id,
          pointer: `${pointer}/${name}`,
          expected: `\`${name}\`, if the response has it`,
          received: describeMisspelled(found, name),
          hint: 'Send the names as the specification writes them, without a conversion to camel case.',
        })),
    unjudged,
  );
  return {
    level: 'should',
    reason: 'The service reads fields by their names, so it never sees a field with another name.',
    ...entry,
    check: wrapCheck(check),
  };
}
