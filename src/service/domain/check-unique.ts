import { brief } from '../../contract/index.ts';
import { InvalidDocumentError } from '../app/errors.ts';

/**
 * Checks that no name is given twice, since the later would silently hold. `at` is the pointer to
 * where the name of that index stands, `shown` what stands there. @throws Misfit about the second.
 */
export function checkUnique(
  names: readonly (string | undefined)[],
  at: (index: number) => string,
  shown: (index: number) => string | undefined = (index) => names[index],
): void {
  const firsts = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    if (name === undefined) continue;
    const first = firsts.get(name);
    if (first !== undefined) {
      throw new InvalidDocumentError(
        at(index),
        `repeats ${brief(shown(index))} of ${at(first)}`,
        at(first),
      );
    }
    firsts.set(name, index);
  }
}
