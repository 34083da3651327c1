import type * as conformanceModule from '../../../conformance/index.ts';
import {
  resolveSelection,
  type ResolvedSelection,
  type SelectionOptions,
  type SelectionSource,
} from '../../library/selection.ts';
import { UsageError } from '../errors.ts';

/**
 * Reads `--only`, `--skip`, and `--requirements`.
 *
 * @throws {UsageError} if a requirement or a set is unknown, or nothing is left to judge.
 */
export function readSelection(
  flags: SelectionOptions,
  source: SelectionSource,
  conformance: typeof conformanceModule,
): ResolvedSelection {
  try {
    return resolveSelection(flags, source, conformance);
  } catch (error) {
    if (error instanceof conformance.SelectionError) throw new UsageError(error.message);
    throw error;
  }
}
