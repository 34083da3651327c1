import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { buildTools } from './packaging/build-tools.ts';

const PRODUCT = ['{cli,library,reference-agent,conformance,load,src}/**/*.ts'];

const TIME_AND_RANDOMNESS =
  'Take a Clock or a Random from src/platform, so that tests can control it.';
const timers = ['setTimeout', 'setInterval', 'setImmediate', 'performance'];
const cryptoRandomness = ['getRandomValues', 'randomBytes', 'randomInt', 'randomUUID'];

// One convention for names everywhere: PascalCase types, camelCase functions and values, and
// SCREAMING_SNAKE_CASE for primitive constants at module level.
const typeAndFunctionNames = [
  { selector: 'typeLike', format: ['PascalCase'] },
  { selector: 'function', format: ['camelCase'] },
];
const strictValueNames = [
  { selector: 'parameter', modifiers: ['destructured'], format: null },
  { selector: 'parameter', format: ['camelCase'], leadingUnderscore: 'allow' },
  {
    selector: 'variable',
    modifiers: ['const', 'global'],
    types: ['number', 'string', 'boolean'],
    format: ['UPPER_CASE'],
  },
  { selector: 'variable', modifiers: ['const', 'global'], format: ['camelCase', 'UPPER_CASE'] },
  {
    selector: 'variable',
    modifiers: ['const', 'global', 'destructured'],
    types: ['number', 'string', 'boolean'],
    format: null,
  },
  { selector: 'variable', modifiers: ['destructured'], format: null },
  { selector: 'variable', format: ['camelCase'], leadingUnderscore: 'allow' },
];

const TEMPLATE_GLOBALS = [
  'AbortSignal',
  'Buffer',
  'clearTimeout',
  'console',
  'performance',
  'process',
  'setTimeout',
];
const FIELD_GLOBALS = ['Buffer', 'URL', 'console', 'crypto', 'fetch', 'process', 'setTimeout'];

export default defineConfig(
  {
    ignores: [
      'dist/',
      '.tap/',
      'src/contract/generated/',
      'test/.groups/',
      // Its types exist only while its test runs, which compiles it.
      'test/generated-client/',
      // Types for packages that are not installed here.
      'shipped/matchers/*.d.ts',
    ],
  },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // There are no enums: Node strips types and runs only erasable syntax.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { ignoreRestSiblings: true, ignoreUsingDeclarations: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/naming-convention': [
        'error',
        ...typeAndFunctionNames,
        ...strictValueNames,
      ],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // Tests and benchmarks use wire names, and destructure arguments at module level.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: { '@typescript-eslint/naming-convention': ['error', ...typeAndFunctionNames] },
  },
  {
    // Tables of requirements grow with the number of requirements.
    files: ['conformance/areas/**/*.ts'],
    rules: { 'max-lines': 'off' },
  },
  {
    files: PRODUCT,
    rules: {
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-globals': [
        'error',
        ...timers.map((name) => ({ name, message: TIME_AND_RANDOMNESS })),
      ],
      'no-restricted-imports': [
        'error',
        {
          name: 'node:crypto',
          importNames: cryptoRandomness,
          message: 'Take random values from src/platform/random.ts.',
        },
        {
          name: 'node:timers/promises',
          importNames: ['setTimeout', 'setInterval', 'scheduler'],
          message: TIME_AND_RANDOMNESS,
        },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: TIME_AND_RANDOMNESS },
        { object: 'Date', property: 'now', message: TIME_AND_RANDOMNESS },
        { object: 'process', property: 'env', message: 'Only the CLI reads the environment.' },
        { object: 'process', property: 'exit', message: 'Only the CLI ends the process.' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'NewExpression[callee.name="Date"]', message: TIME_AND_RANDOMNESS },
      ],
    },
  },
  {
    files: ['src/platform/**/*.ts'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-imports': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-syntax': 'off',
    },
  },
  {
    // Only the CLI reads the environment and ends the process. Commands get the process as a value.
    files: ['cli/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...timers.map((name) => ({ name, message: TIME_AND_RANDOMNESS })),
        { name: 'process', message: 'Take a CommandProcess, so that tests can control it.' },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: TIME_AND_RANDOMNESS },
        { object: 'Date', property: 'now', message: TIME_AND_RANDOMNESS },
      ],
    },
  },
  {
    files: ['cli/main.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    files: buildTools,
    rules: { 'no-console': 'off', 'no-restricted-properties': 'off' },
  },
  {
    files: ['bin/**/*.js'],
    languageOptions: {
      globals: { process: 'readonly', console: 'readonly', setTimeout: 'readonly' },
    },
  },
  {
    // Scripts of pages, which run one after the other in one scope. The compiler knows their names.
    files: ['shipped/browser/*.{js,d.ts}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { sourceType: 'script', parserOptions: { projectService: true } },
    rules: {
      'no-undef': 'off',
      'no-redeclare': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { vars: 'local', ignoreRestSiblings: true }],
      '@typescript-eslint/no-redeclare': ['error', { builtinGlobals: false }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // The templates of `sandbox-kit init` are plain JavaScript.
    files: ['shipped/templates/**/*.js'],
    languageOptions: {
      globals: Object.fromEntries(TEMPLATE_GLOBALS.map((name) => [name, 'readonly'])),
    },
  },
  {
    // Programs of the field tests, whose packages may be absent.
    files: ['test/field/**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(FIELD_GLOBALS.map((name) => [name, 'readonly'])),
    },
  },
);
