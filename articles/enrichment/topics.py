"""Topics of articles by the tags that feeds give them: the top level of IPTC's Media Topics. Pure.

Tags are compared word by word with lists in several languages, without accents and in small letters.
Source: IPTC Media Topics, http://cv.iptc.org/newscodes/mediatopic/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from crawler.text.characters import without_accents

VERSION = "1"
MAX_TAGS = 30
"""Tags of an article that are looked at."""


@dataclass(frozen=True, slots=True)
class MediaTopic:
    """A topic: its English name here, its number in IPTC's scheme, and tags that mean it."""

    name: str
    code: str
    tags: str

    @property
    def address(self) -> str:
        """The topic's address in IPTC's vocabulary."""
        return f"http://cv.iptc.org/newscodes/mediatopic/{self.code}"


TOPICS = (
    MediaTopic("Culture and media", "01000000", """
        art arts book books culture film films movies cinema music theatre theater literature
        photography television tv radio entertainment media journalism museum museums design dance
        poetry comics anime manga celebrity celebrities reviews podcasts festival architecture novel
        fiction publishing kunst bucher buch kultur filme kino musik literatur fotografie fernsehen
        unterhaltung medien journalismus feuilleton ausstellung konzert arte artes cultura libros libro
        cine musica literatura fotografia television entretenimiento medios periodismo livres livre
        culture cinema musique litterature photographie medias spectacles expo libri spettacoli livros
        boeken muziek kunst-en-cultuur культура кино музыка литература искусство книги 文化 芸術 音楽
        映画 文学 本 読書 芸能 アニメ 娱乐 电影 音乐 读书 문화 영화 음악"""),
    MediaTopic("War and peace", "16000000", """
        war wars peace conflict conflicts military defense defence army navy terrorism ukraine-war gaza
        ceasefire weapons coup krieg frieden konflikte militar bundeswehr verteidigung terrorismus
        guerra paz conflicto conflictos ejercito defensa guerre paix conflit armee pace война армия 戦争
        平和 軍事 战争 军事"""),
    MediaTopic("Crime and justice", "02000000", """
        crime law justice police court courts legal prison lawsuit lawsuits fraud murder corruption
        trial kriminalitat recht justiz polizei gericht verbrechen prozess betrug crimen ley justicia
        policia tribunales sucesos derecho droit proces faits-divers criminalite giustizia cronaca-nera
        crimine justica politie recht-en-justitie преступность право суд криминал происшествия 事件 犯罪
        法律 裁判 司法 警察"""),
    MediaTopic("Disasters and accidents", "03000000", """
        disaster disasters accident accidents earthquake earthquakes flood floods flooding wildfire
        wildfires fire hurricane tsunami emergency katastrophe katastrophen unfall unfalle erdbeben
        hochwasser waldbrand desastres accidentes terremoto inundaciones incendio catastrophe
        catastrophes accident seisme inondations incendies terremoti alluvione катастрофа авария
        землетрясение 災害 地震 事故 防災 灾害"""),
    MediaTopic("Economy and business", "04000000", """
        economy economics business finance financial markets market money investing investment banking
        bank banks stocks trade startup startups company companies industry energy-market crypto
        cryptocurrency bitcoin tax taxes real-estate marketing management retail inflation accounting
        insurance ecommerce agriculture wirtschaft finanzen borse unternehmen markte geld handel steuern
        immobilien industrie landwirtschaft economia negocios finanzas mercados empresas dinero empresa
        bolsa agricultura economie affaires entreprises entreprise bourse argent impots finanza mercati
        aziende negocios-e-financas economie-en-bedrijf экономика бизнес финансы деньги рынок 経済 経営
        金融 ビジネス 投資 仮想通貨 株式 金融・経済 财经 经济 商业 금융 경제"""),
    MediaTopic("Education", "05000000", """
        education school schools university universities teaching students college teachers e-learning
        higher-education bildung schule schulen universitat hochschule studium lehre educacion escuela
        universidad ensenanza colegio ecole universite enseignement istruzione scuola universita
        educacao escola universidade onderwijs образование школа университет 教育 学校 大学 学習
        教育研究 교육"""),
    MediaTopic("Environment", "06000000", """
        environment climate climate-change nature wildlife conservation biodiversity pollution
        sustainability ecology recycling renewable-energy renewables animals animal-welfare umwelt klima
        klimawandel natur naturschutz nachhaltigkeit tiere energiewende medio-ambiente medioambiente
        clima cambio-climatico naturaleza ecologia sostenibilidad animales environnement climat
        changement-climatique ecologie animaux ambiente meio-ambiente natura milieu klimaat natuur
        экология климат природа животные 環境 気候 自然 動物 环境 气候 환경"""),
    MediaTopic("Health", "07000000", """
        health healthcare medicine medical hospital hospitals covid covid-19 coronavirus pandemic
        disease diseases mental-health nutrition vaccines vaccine cancer fitness wellness nursing drugs
        gesundheit medizin krankenhaus corona pandemie psychologie pflege ernahrung salud medicina
        sanidad hospital-y-salud pandemia enfermedad nutricion sante medecine hopital maladie salute
        sanita saude gezondheid zorg здоровье медицина 健康 医療 病院 病気 適応障害 医学 건강"""),
    MediaTopic("Human interest", "08000000", """
        human-interest people royals royalty royal-family obituary obituaries curiosities odd oddities
        anniversary good-news menschen leute panorama nachruf konigshaus gente obituarios curiosidades
        personnalites insolite necrologie persone люди 人物 訃報"""),
    MediaTopic("Work", "09000000", """
        labour labor work jobs job career careers employment unemployment unions union strike workplace
        remote-work hiring arbeit arbeitsmarkt beruf karriere gewerkschaft gewerkschaften streik trabajo
        empleo carrera sindicatos huelga travail emploi syndicat greve lavoro trabalho emprego werk
        работа карьера 労働 仕事 転職 就職 働き方 工作 职场 노동"""),
    MediaTopic("Lifestyle and leisure", "10000000", """
        lifestyle life-style leisure travel food recipes recipe cooking fashion beauty home garden
        gardening games gaming video-games hobby hobbies diy crafts knitting pets restaurants wine
        holidays hotels cars car automotive motoring tourism outdoors hiking shopping minimalism leben
        reisen reise essen rezepte kochen mode garten spiele freizeit auto urlaub wohnen genuss viajes
        viaje comida recetas cocina moda jardin juegos ocio hogar videojuegos turismo coches voyage
        voyages cuisine recettes jardinage jeux loisirs maison vie tourisme viaggi cucina ricette
        moda-e-bellezza giochi viagens receitas casa reizen koken eten путешествия кулинария мода игры
        旅行 料理 ファッション ゲーム グルメ シンプルライフ 生活 暮らし 趣味 旅游 美食 游戏 여행"""),
    MediaTopic("Politics", "11000000", """
        politics government election elections parliament congress senate policy democracy diplomacy
        president minister foreign-policy immigration migration human-rights white-house brexit eu
        european-union nato political politik regierung wahl wahlen bundestag parlament innenpolitik
        aussenpolitik demokratie europa politica gobierno elecciones parlamento congreso democracia
        politique gouvernement elections-presidentielles parlement governo elezioni eleicoes politiek
        verkiezingen regering политика выборы правительство 政治 選挙 政府 国会 外交 政策 政治与社会
        정치"""),
    MediaTopic("Religion", "12000000", """
        religion church faith christianity islam judaism buddhism hinduism bible god theology catholic
        pope kirche glaube kirchen christentum papst iglesia fe cristianismo eglise foi chiesa fede
        igreja kerk религия церковь 宗教 仏教 神社 キリスト教 佛教 종교"""),
    MediaTopic("Science and technology", "13000000", """
        science technology tech physics chemistry biology mathematics math maths astronomy space nasa
        research engineering computing computer computers computer-science software hardware programming
        coding code developer development web web-development webdev internet ai artificial-intelligence
        machine-learning deep-learning llm llms ml data data-science databases database security
        cybersecurity infosec privacy cryptography linux unix windows macos apple google microsoft
        android ios swift python javascript typescript java rust go golang ruby php c c++ css html react
        kubernetes docker cloud aws devops git github open-source opensource foss free-software robotics
        electronics gadgets smartphones mobile networking algorithms algorithm compiler compilers api
        release releases performance benchmarking profiling debugging testing pypy cpython numpy bash
        node nodejs sql postgresql vim emacs wireshark ctf reverse-engineering homelab self-hosting gpu
        cve blender raspberry-pi arduino 3d-printing tools wissenschaft technik technologie forschung
        informatik netzwelt netzpolitik digital digitales physik chemie biologie mathematik astronomie
        weltraum programmierung datenschutz sicherheit ciencia tecnologia informatica programacion
        investigacion matematicas fisica biologia astronomia seguridad sciences science-et-technologie
        informatique numerique recherche mathematiques physique programmation securite scienza scienze
        tecnologie ricerca ciencias wetenschap techniek наука технологии программирование 科学 技術
        テクノロジー プログラミング 数学 物理 宇宙 情報技術 开发 编程 科技 技术 算法 前端 后端 人工智能
        机器学习 기술 과학 개발"""),
    MediaTopic("Society", "14000000", """
        society community communities family families women gender feminism lgbt lgbtq race racism
        poverty welfare equality social-issues demographics population religion-and-society
        discrimination youth refugees gesellschaft familie frauen gleichstellung soziales flucht jugend
        sociedad comunidad familia mujeres igualdad genero societe famille femmes egalite societa
        famiglia sociedade gelijkheid samenleving общество семья 社会 家族 女性 福祉 ジェンダー 사회
        masyarakat"""),
    MediaTopic("Sport", "15000000", """
        sport sports football soccer basketball tennis cricket rugby golf baseball hockey athletics
        olympics olympic-games formula-1 f1 motorsport cycling running boxing swimming nfl nba mlb nhl
        ufc premier-league champions-league bundesliga world-cup chess esports fussball handball
        leichtathletik olympia radsport wintersport deporte deportes futbol baloncesto ciclismo tenis
        atletismo liga football-ligue-1 sports-divers cyclisme calcio ciclismo-e-corsa futebol esporte
        esportes voetbal wielrennen спорт футбол хоккей スポーツ 野球 サッカー 体育 足球 篮球 축구
        스포츠"""),
    MediaTopic("Weather", "17000000", """
        weather weather-forecast forecast storm storms heatwave heat snow wetter wettervorhersage sturm
        hitzewelle unwetter tiempo pronostico tormenta meteo canicule tempete previsioni-del-tempo
        tempo-e-clima weer погода прогноз-погоды 天気 気象 台風 天气 날씨"""),
)  # fmt: skip
BY_NAME = {topic.name: topic for topic in TOPICS}


def topic_of(tags: Iterable[str]) -> tuple[str, str]:
    """Return the name of the topic that most tags mean, and the first of them; two empty texts for none.

    A tag that is in a list as a whole counts twice as much as one of which only words are.
    """
    votes: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for tag in list(tags)[:MAX_TAGS]:
        for name, weight in _votes(tag[:100]):
            votes[name] = votes.get(name, 0) + weight
            reasons.setdefault(name, tag)
    if not votes:
        return "", ""
    best = max(votes, key=lambda name: votes[name])  # the first of those with most
    return best, reasons[best]


@lru_cache(maxsize=4096)
def _votes(tag: str) -> tuple[tuple[str, int], ...]:
    """Return the topics that a tag means, each with its weight."""
    votes: dict[str, int] = {}
    for part in _SEPARATORS.split(plain(tag)):
        words = part.replace("-", " ").split()
        if name := _TOPIC_BY_TAG.get(" ".join(words)):
            votes[name] = 2
            continue
        while words:
            size = next((size for size in (3, 2, 1) if _known_words(words[:size])), 0)
            if size:
                votes.setdefault(_TOPIC_BY_TAG[" ".join(words[:size])], 1)
            words = words[size or 1 :]
    return tuple(votes.items())


def _known_words(words: list[str]) -> bool:
    text = " ".join(words)
    return (len(text) >= _MIN_WORD or not text.isascii()) and text in _TOPIC_BY_TAG


_MIN_WORD = 3
"""Letters of a word that counts within a tag of several: "go" and "c" mean too much."""
_SEPARATORS = re.compile(r"\s*(?:[/|,;>&·»:()\[\]#_]|\band\b|\bund\b|\bet\b|\by\b)\s*")


def plain(text: str) -> str:
    """Return a tag in small letters, without accents and with single blanks."""
    return " ".join(without_accents(text).split())


_TOPIC_BY_TAG = {
    plain(tag).replace("-", " "): topic.name for topic in reversed(TOPICS) for tag in topic.tags.split()
}
