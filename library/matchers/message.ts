import {
  findViolations,
  formatValue,
  schemas,
  type MessageName,
} from '../../src/contract/index.ts';
import { didYouMean } from '../../src/platform/suggest.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { describeProblems, rejectPromise, type Judgment } from './judgment.ts';

/**
 * Judges whether a value matches the schema of a message.
 *
 * @throws {TypeError} if no message has the name.
 */
export function judgeMessage(caller: string, value: unknown, name: MessageName): Judgment {
  rejectPromise(caller, value);
  const names = Object.keys(schemas);
  if (!names.includes(name)) {
    const hint = didYouMean(name, names, 'Run sandbox-kit schemas to list all messages.');
    throw new TypeError(`${caller}: Unknown message ${formatValue(name)}. ${hint}`);
  }
  const violations = findViolations(name, value);
  if (violations.length === 0) {
    return {
      pass: true,
      message: () => `Expected the value not to be a valid ${name}, but it is.`,
    };
  }
  const problems = violations.map(
    ({ pointer, expected, received }) =>
      `  ${pointer || 'the value'} must be ${expected}, got ${received}`,
  );
  const count = formatCount(problems.length, 'error');
  return {
    pass: false,
    message: () =>
      describeProblems(`Expected a valid ${name}, but the value has ${count}.`, problems),
  };
}
