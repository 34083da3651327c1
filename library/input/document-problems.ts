/** The words for what is wrong with a document that was read, with the places. */
import type { Document } from 'yaml';
import { resolvePointer, type Violation } from '../../src/contract/index.ts';
import { findClosest } from '../../src/platform/suggest.ts';
import { formatList } from '../../src/report-kit/format.ts';
import { keysOf, sourceAt } from './document-places.ts';

/** The problem with a document. */
export interface DocumentProblem {
  pointer: string;
  /** Whether the name of the field is wrong, not its value. */
  isName: boolean;
  /** A sentence without a full stop. */
  message: string;
}

/**
 * Describes violations, one for each place, and one for all unknown fields of an object that are like no
 * known field. The right name of a misspelled field is not missing.
 */
export function describeViolations(
  all: readonly Violation[],
  document: Document,
  value: unknown,
  root: string,
): DocumentProblem[] {
  const misspelled = new Set(all.map(meantPointer));
  const byPointer = new Map(
    all.filter(({ pointer }) => !misspelled.has(pointer)).map((each) => [each.pointer, each]),
  );
  const violations = [...byPointer.values()];
  const isUnlike = (each: Violation): boolean =>
    each.fields !== undefined && meantPointer(each) === undefined;
  const unlike = Map.groupBy(violations.filter(isUnlike), ({ pointer }) => parentOf(pointer));
  return [
    ...Array.from(unlike.values(), describeUnknownFields),
    ...violations
      .filter((each) => !isUnlike(each))
      .map((each) => describeViolation(each, document, value, root)),
  ];
}

/** Returns the place of the field that an unknown one probably means. */
function meantPointer({ pointer, fields = [] }: Violation): string | undefined {
  const meant = findClosest(nameOf(pointer), fields);
  return meant && `${parentOf(pointer)}/${meant}`;
}

/** The most unknown fields that one problem names. */
const NAMED_MAX = 5;

/** Describes the unknown fields of one object that are like none of its known fields. */
function describeUnknownFields(unknown: readonly Violation[]): DocumentProblem {
  const [first] = unknown;
  const fields = first?.fields ?? [];
  const names = unknown.map((each) => `\`${nameOf(each.pointer)}\``);
  const noun = names.length === 1 ? 'field' : 'fields';
  const known = fields.length === 0 ? '' : `. Known fields: ${fields.join(', ')}`;
  const message = `Unknown ${noun} ${formatList(names, NAMED_MAX)}${known}`;
  return { pointer: first?.pointer ?? '', isName: true, message };
}

function describeViolation(
  { pointer, kind, expected, received, fields }: Violation,
  document: Document,
  value: unknown,
  root: string,
): DocumentProblem {
  if (fields !== undefined) {
    const closest = findClosest(nameOf(pointer), fields) ?? '';
    const message = `Unknown field \`${nameOf(pointer)}\`. Did you mean \`${closest}\`?`;
    return { pointer, isName: true, message };
  }
  const message = `${pointer || root} must be ${expected}, got ${received}`;
  const given = resolvePointer(value, pointer);
  const isQuotable = kind === 'string' && (typeof given === 'number' || typeof given === 'boolean');
  const source = isQuotable && sourceAt(document, pointer);
  const quoted = source ? `${message}. Put it in quotes: "${source}"` : message;
  return { pointer, isName: false, message: quoted };
}

/** Returns the pointer to the object that has a field. */
const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'));

/** Returns the name of the field at a pointer. */
const nameOf = (pointer: string): string => keysOf(pointer).at(-1) ?? '';
