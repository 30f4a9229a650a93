// The default theme, with the first screen of the site.

import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import FirstScreen from './FirstScreen.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-after': () => h(FirstScreen) }),
};
