/** Every address of the application (spec section 2). */
export const paths = {
  landing: '/',
  login: '/login',
  signUp: '/signup',
  dashboard: '/dashboard',
  privacyPolicy: '/privacy-policy',
  terms: '/terms',
  about: '/about',
  contact: '/contact',
} as const;
