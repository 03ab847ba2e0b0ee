import app from './app.json';
import auth from './auth.json';
import errors from './errors.json';
import landing from './landing.json';
import session from './session.json';
import site from './site.json';

export default {
  app,
  auth,
  errors,
  landing,
  session,
  site,
};
