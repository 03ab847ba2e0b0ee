import { doors } from './build/doors.mjs';

/** The test of the doors writes files here that must be refused. */
const fixtures = 'tests/doors/fixtures';

/** @type {import('oxlint').OxlintConfig} */
export default {
  plugins: ['typescript', 'unicorn', 'oxc', 'react', 'jsx-a11y', 'import', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  ignorePatterns: ['dist', 'relay/dist', 'crypto-core/dist', 'verify/dist'],
  rules: {
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': [
      'error',
      {
        checksVoidReturn: {
          attributes: false,
        },
      },
    ],
    'typescript/await-thenable': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/no-non-null-assertion': 'error',
    'eslint/eqeqeq': 'error',
    'eslint/no-console': 'error',
    'eslint/no-var': 'error',
    'eslint/prefer-const': 'error',
    'eslint/no-eval': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'react/react-in-jsx-scope': 'off',
    'react/rules-of-hooks': 'error',
    'react/exhaustive-deps': 'error',
    'react/no-danger': 'error',
    'react/jsx-no-target-blank': 'error',
    'import/no-unassigned-import': 'off',
    // Types check as much of promises, and it takes the `catch` of a schema for a promise's.
    'promise/valid-params': 'off',
    'eslint/no-underscore-dangle': 'off',
    'vitest/no-disabled-tests': 'error',
    'vitest/no-focused-tests': 'error',
    'typescript/no-unsafe-type-assertion': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'eslint/no-shadow': 'off',
  },
  overrides: [
    ...doors.map(({ files, patterns }) => ({
      files: files.flatMap((file) => [file, `${fixtures}/${file}`]),
      rules: { 'no-restricted-imports': ['error', { patterns }] },
    })),
    {
      files: ['tests/**', 'crypto-core/test/**', 'relay/test/**', 'verify/test/**'],
      rules: {
        'typescript/no-non-null-assertion': 'off',
        'eslint/no-console': 'off',
        'eslint/no-empty-pattern': ['error', { allowObjectPatternsAsParameters: true }],
      },
    },
  ],
};
