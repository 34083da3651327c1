/** Optional fields of a response whose name is spelled in another way, such as `finishReason`. */
import { describeMisspelled } from '../../src/contract/index.ts';
import { type Check, checkEach } from '../engine/checks/check.ts';
import type { PartialEntry, RequirementEntry } from '../engine/requirement.ts';
import type { Exchange } from '../engine/transcript/reading.ts';
import { cureOfNames, misspelledFieldsOf } from './diagnoses/misspelled-fields.ts';

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
        .map((field) => ({
          exchange: exchange.id,
          pointer: `${field.pointer}/${field.name}`,
          expected: `\`${field.name}\`, if the response has it`,
          received: describeMisspelled(field.found, field.name),
          hint: `${cureOfNames([field])}.`,
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
