/** The table of correct verdicts, read from expectations.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Sandbox {
  file: string;
  stack: string;
  /** A message that makes the agent use its tool, for `--prompt`. */
  prompt: string;
  requiresKey?: true;
}

export interface Defect {
  sandbox: string;
  name: string;
  /** Section of the specification that the defect violates. */
  section: string;
  violates: string;
  verdict: string;
  /** Areas of which a requirement has to fail. */
  areas: readonly string[];
  /** Matches the text of a requirement that names the fault. */
  rule: RegExp;
  /** A supervisor starts the sandbox again when it ends. */
  restarts?: true;
}

interface Oddity {
  sandbox: string;
  name: string;
  section: string;
  legalBecause: string;
}

interface DefectRow extends Omit<Defect, 'sandbox' | 'areas' | 'rule'> {
  areas: string;
  rule: string;
}

interface Table {
  sandboxes: Record<string, Sandbox>;
  defects: Record<string, DefectRow[]>;
  oddities: Record<string, Omit<Oddity, 'sandbox'>[]>;
}

const path = join(import.meta.dirname, 'expectations.json');
const table = JSON.parse(readFileSync(path, 'utf8')) as Table;

export const sandboxes: Readonly<Record<string, Sandbox>> = table.sandboxes;

export const defects: readonly Defect[] = Object.entries(table.defects).flatMap(([sandbox, rows]) =>
  rows.map((row) => ({
    ...row,
    sandbox,
    areas: row.areas.split(' '),
    rule: new RegExp(row.rule, 'i'),
  })),
);

export const oddities: readonly Oddity[] = Object.entries(table.oddities).flatMap(
  ([sandbox, rows]) => rows.map((row) => ({ ...row, sandbox })),
);
