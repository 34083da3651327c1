/** Programs in the source directories that only developers run. The package does not contain them. */
export const buildTools = [
  'cli/docs/generate-docs.ts',
  'conformance/ledger.ts',
  'conformance/release-requirements.ts',
  'src/contract/generate.ts',
] as const;
