import "../render/math.css";
import "../render/theme.css";
import "./page.css";
import { mount } from "svelte";
import { prepareLayout } from "../layout/client";
import { useTypesetter } from "../render/math";
import { typeset } from "../render/typesetter";
import App from "./App.svelte";
import { placeOf } from "./room.svelte";
import SecondScreen from "./SecondScreen.svelte";

const target = document.getElementById("page");
if (target === null) throw new Error("index.html has no #page");
useTypesetter(typeset);
const place = placeOf(location);
if (place?.screen) mount(SecondScreen, { target, props: { code: place.code, secret: place.screen } });
else mount(App, { target });
prepareLayout();
