/** Lists of whole numbers in a report. As JSON arrays they would take a line per number. */

/** Writes whole numbers, separated by spaces. */
export const formatNumbers = (numbers: readonly number[]): string => numbers.join(' ');

/** Reads whole numbers that are separated by spaces. */
export const parseNumbers = (text: string): number[] =>
  text === '' ? [] : text.split(' ').map(Number);
